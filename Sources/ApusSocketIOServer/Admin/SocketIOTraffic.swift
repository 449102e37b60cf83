import ApusEngineIOProtocol
import Atomics
import NIOConcurrencyHelpers

/// What has gone over a server's connections since somebody last asked. There is one only where the admin page is on.
final class SocketIOTraffic: Sendable {
    let packetsIn = ManagedAtomic(0)
    let bytesIn = ManagedAtomic(0)
    let packetsOut = ManagedAtomic(0)
    let bytesOut = ManagedAtomic(0)
    private let connections = ManagedAtomic(0)
    private let polling = ManagedAtomic(0)
    /// By the engine's reason: a handful.
    private let disconnections = NIOLockedValueBox<[String: Int]>([:])

    /// The clients on polling now.
    var pollingClients: Int { self.polling.load(ordering: .relaxed) }

    func connected(polling: Bool) {
        self.connections.wrappingIncrement(ordering: .relaxed)
        if polling { self.polling.wrappingIncrement(ordering: .relaxed) }
    }

    func upgraded() { self.polling.wrappingDecrement(ordering: .relaxed) }

    func disconnected(polling: Bool, reason: String) {
        if polling { self.polling.wrappingDecrement(ordering: .relaxed) }
        self.disconnections.withLockedValue { $0[reason, default: 0] += 1 }
    }

    func received(bytes: Int) {
        self.packetsIn.wrappingIncrement(ordering: .relaxed)
        self.bytesIn.wrappingIncrement(by: bytes, ordering: .relaxed)
    }

    func sent(bytes: Int) {
        self.packetsOut.wrappingIncrement(ordering: .relaxed)
        self.bytesOut.wrappingIncrement(by: bytes, ordering: .relaxed)
    }

    /// One kind of event: how often it happened.
    struct Count: Equatable {
        var type: String
        var subType: String?
        var count: Int
    }

    /// What happened since the last call; kinds that did not happen are left out.
    func take() -> [Count] {
        var counts: [Count] = []
        func add(_ type: String, _ counter: ManagedAtomic<Int>) {
            let count = counter.exchange(0, ordering: .relaxed)
            if count > 0 { counts.append(Count(type: type, count: count)) }
        }
        add("rawConnection", self.connections)
        for (reason, count) in self.disconnections.withLockedValue({ exchange(&$0, with: [:]) }).sorted(by: { $0.key < $1.key }) {
            counts.append(Count(type: "rawDisconnection", subType: reason, count: count))
        }
        add("packetsIn", self.packetsIn)
        add("bytesIn", self.bytesIn)
        add("packetsOut", self.packetsOut)
        add("bytesOut", self.bytesOut)
        return counts
    }
}

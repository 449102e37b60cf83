import ApusBytes
import ApusEngineIOProtocol
import Atomics
import NIOConcurrencyHelpers

/// The traffic of a server's connections since the last call of `take()`, for the admin page. It
/// exists only when the admin page is enabled.
final class SocketIOTraffic: Sendable {
    let packetsIn = ManagedAtomic(0)
    let bytesIn = ManagedAtomic(0)
    let packetsOut = ManagedAtomic(0)
    let bytesOut = ManagedAtomic(0)
    private let connections = ManagedAtomic(0)
    private let polling = ManagedAtomic(0)
    /// The number of closed connections by reason.
    private let disconnections = NIOLockedValueBox<[String: Int]>([:])

    /// The number of connected clients that use polling.
    var pollingClients: Int { self.polling.load(ordering: .relaxed) }

    func connected(polling: Bool) {
        self.connections.wrappingIncrement(ordering: .relaxed)
        if polling { self.polling.wrappingIncrement(ordering: .relaxed) }
    }

    /// Records that a client has changed from polling to another transport.
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

    /// The number of events of one kind.
    struct Count: Equatable {
        var type: String
        var subType: String?
        var count: Int
    }

    /// Returns the counts since the last call and resets them. Omits kinds with a count of 0.
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

import ApusSocketIOClient
import ApusSocketIOProtocol
import NIOConcurrencyHelpers

/// The events of one name that a socket has received, in order.
struct InteropInbox: Sendable {
    private let stream: AsyncStream<[SocketIOValue]>
    private let total: NIOLockedValueBox<Int>

    init(_ socket: SocketIOClient, _ event: String) {
        let (stream, continuation) = AsyncStream.makeStream(of: [SocketIOValue].self)
        let total = NIOLockedValueBox(0)
        socket.on(event) { data, _ in
            total.withLockedValue { $0 += 1 }
            continuation.yield(data)
        }
        self.stream = stream
        self.total = total
    }

    /// The number of all received events, including those that were taken.
    var count: Int { self.total.withLockedValue { $0 } }

    /// Waits for the next `count` events and returns their arguments.
    func take(_ count: Int) async -> [[SocketIOValue]] {
        guard count > 0 else { return [] }
        var taken: [[SocketIOValue]] = []
        for await values in self.stream {
            taken.append(values)
            if taken.count == count { break }
        }
        return taken
    }
}

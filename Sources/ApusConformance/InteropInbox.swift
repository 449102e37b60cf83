import ApusSocketIOClient
import ApusSocketIOProtocol
import NIOConcurrencyHelpers

/// Every event of one name that a socket has got, in order.
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

    /// How many came since the beginning, taken or not.
    var count: Int { self.total.withLockedValue { $0 } }

    /// Waits for the next ones.
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

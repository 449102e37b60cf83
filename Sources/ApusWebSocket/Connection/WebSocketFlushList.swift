/// The connections to flush, each at most once.
///
/// A class, because a connection that is being flushed may write again and join the next list.
final class WebSocketFlushList {
    /// The largest capacity that is kept after a flush.
    private static let maximumSpareHandlers = 4096

    @exclusivity(unchecked) private var handlers: [WebSocketHandler] = []
    /// An empty array, kept for its storage.
    @exclusivity(unchecked) private var spare: [WebSocketHandler] = []

    /// Adds a connection. Returns the number of connections in the list.
    func add(_ handler: WebSocketHandler) -> Int {
        self.handlers.append(handler)
        return self.handlers.count
    }

    func flush() {
        var handlers: [WebSocketHandler] = []
        swap(&handlers, &self.spare)
        swap(&handlers, &self.handlers)
        for handler in handlers { handler.turnEnded() }
        handlers.removeAll(keepingCapacity: handlers.capacity <= Self.maximumSpareHandlers)
        self.spare = handlers
    }
}

@available(*, unavailable)
extension WebSocketFlushList: Sendable {}

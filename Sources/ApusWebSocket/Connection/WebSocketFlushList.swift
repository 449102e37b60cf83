/// Connections that are to be flushed, each once.
///
/// An object, for who is flushed may write again, and is then added to the next.
final class WebSocketFlushList {
    /// More of them are not kept room for.
    private static let maximumSpareHandlers = 4096

    @exclusivity(unchecked) private var handlers: [WebSocketHandler] = []
    /// Empty; kept for its storage.
    @exclusivity(unchecked) private var spare: [WebSocketHandler] = []

    /// Answers how many there are now.
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

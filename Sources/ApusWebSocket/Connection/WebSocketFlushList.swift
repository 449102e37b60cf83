/// Connections that are to be flushed, each once.
struct WebSocketFlushList {
    /// More of them are not kept room for.
    private static let maximumSpareHandlers = 4096

    private var handlers: [WebSocketHandler] = []
    /// Empty; kept for its storage.
    private var spare: [WebSocketHandler] = []

    /// Answers how many there are now.
    mutating func add(_ handler: WebSocketHandler) -> Int {
        self.handlers.append(handler)
        return self.handlers.count
    }

    /// All of them. Who is flushed may write again, and is then added to the next.
    mutating func take() -> [WebSocketHandler] {
        var handlers: [WebSocketHandler] = []
        swap(&handlers, &self.spare)
        swap(&handlers, &self.handlers)
        return handlers
    }

    /// They were flushed.
    mutating func giveBack(_ handlers: consuming [WebSocketHandler]) {
        handlers.removeAll(keepingCapacity: handlers.capacity <= Self.maximumSpareHandlers)
        self.spare = handlers
    }
}

@available(*, unavailable)
extension WebSocketFlushList: Sendable {}

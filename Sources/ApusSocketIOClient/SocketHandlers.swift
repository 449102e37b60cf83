public import ApusSocketIOProtocol

/// Names a listener, to remove it with ``SocketIOClient/off(_:)-(SocketListener)``.
public struct SocketListener: Hashable, Sendable {
    let id: Int
}

/// A raw listener: the arguments as they came, and the ack.
public typealias SocketEventHandler = @Sendable (_ data: [SocketIOValue], _ ack: SocketAck) -> Void

/// Who listens to what. Listeners run in the order they were added.
struct SocketHandlers {
    private var events: [String: [(id: Int, handler: SocketEventHandler, isOnce: Bool)]] = [:]
    private var any: [(id: Int, handler: @Sendable (String, [SocketIOValue]) -> Void)] = []
    private var lifecycle: [(id: Int, handler: @Sendable (SocketLifecycleEvent) -> Void)] = []

    mutating func add(_ handler: @escaping SocketEventHandler, id: Int, for event: String, isOnce: Bool) {
        self.events[event, default: []].append((id, handler, isOnce))
    }

    mutating func addAny(_ handler: @escaping @Sendable (String, [SocketIOValue]) -> Void, id: Int) {
        self.any.append((id, handler))
    }

    mutating func addLifecycle(_ handler: @escaping @Sendable (SocketLifecycleEvent) -> Void, id: Int) {
        self.lifecycle.append((id, handler))
    }

    mutating func remove(id: Int) {
        for (event, handlers) in self.events where handlers.contains(where: { $0.id == id }) {
            self.events[event]?.removeAll { $0.id == id }
        }
        self.any.removeAll { $0.id == id }
        self.lifecycle.removeAll { $0.id == id }
    }

    mutating func removeAll(for event: String) {
        self.events[event] = nil
    }

    /// Those to call for an event; the ones that wanted it once are gone with that.
    mutating func take(for event: String) -> [SocketEventHandler] {
        guard let handlers = self.events[event] else { return [] }
        if handlers.contains(where: \.isOnce) { self.events[event]?.removeAll(where: \.isOnce) }
        return handlers.map(\.handler)
    }

    var forAny: [@Sendable (String, [SocketIOValue]) -> Void] { self.any.map(\.handler) }
    var forLifecycle: [@Sendable (SocketLifecycleEvent) -> Void] { self.lifecycle.map(\.handler) }
}

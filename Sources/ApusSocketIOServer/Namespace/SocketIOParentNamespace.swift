public import ApusJSON
public import ApusSocketIOProtocol
import NIOConcurrencyHelpers

/// A rule for dynamic namespaces: the first CONNECT for a matching name creates the namespace, with
/// the middleware and handlers of the rule.
///
/// Every method may be called from any thread. Added middleware and handlers also apply to existing
/// children.
public final class SocketIOParentNamespace: Sendable {
    /// A closure that returns whether a namespace with this name may exist, given the auth of the
    /// client's CONNECT.
    ///
    /// It runs on the client's event loop and must not block. Use middleware for slow checks, and
    /// to check the client.
    public typealias Predicate = @Sendable (_ name: String, _ auth: SocketIOValue) -> Bool

    let matches: Predicate
    /// The pattern of the names; `nil` for a rule with a closure.
    private let pattern: SocketIONamePattern?
    private let state = NIOLockedValueBox(State())

    private struct State {
        var middleware: [SocketIONamespace.Middleware] = []
        var connectionHandlers: [@Sendable (SocketIOServerSocket) -> Void] = []
        var children: [UTF8Key: SocketIONamespace] = [:]
    }

    init(matches: @escaping Predicate) {
        self.matches = matches
        self.pattern = nil
    }

    init(pattern: SocketIONamePattern) {
        self.matches = { name, _ in pattern.matches(name) }
        self.pattern = pattern
    }

    /// Returns whether this rule matches the name regardless of the client's auth. Only a rule with
    /// a pattern can.
    func covers(_ name: String) -> Bool { self.pattern?.matches(name) ?? false }

    /// The existing namespaces of this rule.
    public var children: [SocketIONamespace] { self.state.withLockedValue { Array($0.children.values) } }

    /// Adds a check for the new sockets of every child. It runs before the child's own checks.
    /// See ``SocketIONamespace/use(_:)``.
    public func use(_ middleware: @escaping SocketIONamespace.Middleware) {
        self.state.withLockedValue { $0.middleware.append(middleware) }
    }

    /// Calls `handler` for every new socket of every child, before the child's handlers. See
    /// ``SocketIONamespace/onConnection(_:)``.
    public func onConnection(_ handler: @escaping @Sendable (SocketIOServerSocket) -> Void) {
        self.state.withLockedValue { $0.connectionHandlers.append(handler) }
    }

    /// Sends an event to every socket of every child.
    ///
    /// - Parameters:
    ///   - event: The event's name.
    ///   - arguments: The event's arguments.
    public func emit(_ event: String, arguments: [SocketIOValue]) {
        for child in self.children { child.emit(event, arguments: arguments) }
    }

    /// Sends an event to every socket of every child.
    ///
    /// - Parameters:
    ///   - event: The event's name.
    ///   - arguments: The event's arguments.
    public func emit<each Argument: Encodable & Sendable>(_ event: String, _ arguments: repeat each Argument) {
        for child in self.children { child.emit(event, repeat each arguments) }
    }

    var middleware: [SocketIONamespace.Middleware] { self.state.withLockedValue { $0.middleware } }
    var connectionHandlers: [@Sendable (SocketIOServerSocket) -> Void] { self.state.withLockedValue { $0.connectionHandlers } }

    func add(_ child: SocketIONamespace) { self.state.withLockedValue { $0.children[UTF8Key(child.name)] = child } }

    func remove(_ child: SocketIONamespace) {
        self.state.withLockedValue { state in
            let key = UTF8Key(child.name)
            if state.children[key] === child { state.children[key] = nil }
        }
    }
}

/// A regular expression that must match the whole name, usable from any thread.
///
/// `@unchecked Sendable`: `Regex` is not `Sendable`, so every use is under the lock.
final class SocketIONamePattern: @unchecked Sendable {
    private let lock = NIOLock()
    private let matcher: (String) -> Bool

    init<Output>(_ pattern: sending Regex<Output>) {
        self.matcher = { (try? pattern.wholeMatch(in: $0)) != nil }
    }

    func matches(_ name: String) -> Bool { self.lock.withLock { self.matcher(name) } }
}

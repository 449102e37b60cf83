import ApusJSON
import ApusSocketIOProtocol
import Foundation
import NIOConcurrencyHelpers

/// The namespaces of a server by name, and the rules that create namespaces dynamically.
final class SocketIONamespaceTable: Sendable {
    private let maximumDynamic: Int
    private let removesEmpty: Bool
    private let state = NIOLockedValueBox(State())
    /// The lock held while a namespace is created or removed. A caller thus receives a new
    /// namespace after the `onNewNamespace` handlers have run, and a name is reused only after the
    /// removed namespace has closed. Recursive, because a handler may create namespaces.
    private let creationLock = NSRecursiveLock()

    private struct State {
        var namespaces: [UTF8Key: SocketIONamespace] = [:]
        /// The namespaces being created. They are visible to the handlers, not yet to clients.
        var opening: [UTF8Key: SocketIONamespace] = [:]
        var dynamicCount = 0
        /// The namespaces that the application created by name. They are not removed.
        var kept: Set<UTF8Key> = []
        var parents: [SocketIOParentNamespace] = []
        var handlers: [@Sendable (SocketIONamespace) -> Void] = []
    }

    init(maximumDynamic: Int, removesEmpty: Bool) {
        self.maximumDynamic = maximumDynamic
        self.removesEmpty = removesEmpty
    }

    var all: [SocketIONamespace] { self.state.withLockedValue { Array($0.namespaces.values) } }

    subscript(name: String) -> SocketIONamespace? { self.state.withLockedValue { $0.namespaces[UTF8Key(name)] } }

    func add(_ parent: SocketIOParentNamespace) -> SocketIOParentNamespace {
        self.state.withLockedValue { $0.parents.append(parent) }
        return parent
    }

    func onNew(_ handler: @escaping @Sendable (SocketIONamespace) -> Void) { self.state.withLockedValue { $0.handlers.append(handler) } }

    /// Returns the namespace of this name, creating it with `make` if it does not exist. A new
    /// namespace becomes a child of the first rule that covers the name, if any.
    func namespace(
        _ name: String, appliesRules: Bool = true, make: (String, SocketIOParentNamespace?) -> SocketIONamespace
    ) -> SocketIONamespace {
        if let found = self.found(name) { return found }
        let parent = appliesRules ? self.state.withLockedValue({ $0.parents }).first { $0.covers(name) } : nil
        return self.creationLock.withLock { self.found(name) ?? self.open(make(name, parent), isKept: true) }
    }

    /// Returns the namespace of a client's CONNECT, reserved until ``SocketIONamespace/release()``;
    /// `nil` when it does not exist and no rule creates it.
    func admit(_ name: String, auth: SocketIOValue, make: (SocketIOParentNamespace) -> SocketIONamespace) -> SocketIONamespace? {
        if let found = self.reserved(name) { return found }
        // Call the predicates outside the lock, because they are application code.
        guard let parent = self.state.withLockedValue({ $0.parents }).first(where: { $0.matches(name, auth) }) else { return nil }
        return self.creationLock.withLock {
            if let found = self.reserved(name) { return found }
            guard self.state.withLockedValue({ $0.dynamicCount < self.maximumDynamic }) else { return nil }
            _ = self.open(make(parent), isKept: false)
            return self.reserved(name)
        }
    }

    private func found(_ name: String) -> SocketIONamespace? {
        self.state.withLockedValue { $0.namespaces[UTF8Key(name)] ?? $0.opening[UTF8Key(name)] }
    }

    private func reserved(_ name: String) -> SocketIONamespace? {
        self.state.withLockedValue { state in
            guard let namespace = state.namespaces[UTF8Key(name)] else { return nil }
            namespace.reserve()
            return namespace
        }
    }

    private func open(_ namespace: SocketIONamespace, isKept: Bool) -> SocketIONamespace {
        let handlers = self.state.withLockedValue { state in
            state.opening[UTF8Key(namespace.name)] = namespace
            return state.handlers
        }
        namespace.opened()
        for handler in handlers { handler(namespace) }
        self.state.withLockedValue { state in
            state.opening[UTF8Key(namespace.name)] = nil
            state.namespaces[UTF8Key(namespace.name)] = namespace
            if isKept { state.kept.insert(UTF8Key(namespace.name)) } else { state.dynamicCount += 1 }
        }
        return namespace
    }

    /// Removes a dynamic namespace that has become empty. Called when a namespace loses a socket, a
    /// reservation or stored sessions.
    func becameIdle(_ namespace: SocketIONamespace) {
        guard self.removesEmpty, namespace.parent != nil, namespace.isIdle else { return }
        // The lock is held until the namespace is closed. The parent and the cluster thus receive
        // `opened` for a new namespace of the same name afterwards.
        self.creationLock.withLock {
            let isGone = self.state.withLockedValue { state in
                // Check again under the lock of the reservations: a client may have joined since.
                guard namespace.isIdle, !state.kept.contains(UTF8Key(namespace.name)),
                    state.namespaces[UTF8Key(namespace.name)] === namespace
                else {
                    return false
                }
                state.namespaces[UTF8Key(namespace.name)] = nil
                state.dynamicCount -= 1
                return true
            }
            if isGone { namespace.closed() }
        }
    }
}

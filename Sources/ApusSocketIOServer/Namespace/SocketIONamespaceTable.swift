import ApusJSON
import ApusSocketIOProtocol
import Foundation
import NIOConcurrencyHelpers

/// The namespaces of a server by name, and the rules by which more are made.
final class SocketIONamespaceTable: Sendable {
    private let maximumDynamic: Int
    private let removesEmpty: Bool
    private let state = NIOLockedValueBox(State())
    /// Held while a namespace is made or unmade: nobody else gets it before `onNewNamespace` has put its middleware in, nor another of its name
    /// before it is closed. Recursive, because that handler may make namespaces itself.
    private let making = NSRecursiveLock()

    private struct State {
        var namespaces: [UTF8Key: SocketIONamespace] = [:]
        /// In the making: to be found by who made them, not yet by clients.
        var opening: [UTF8Key: SocketIONamespace] = [:]
        var dynamicCount = 0
        /// Children of a rule that the application named: they stay.
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

    /// The namespace of this name, made by `make` if there is none: as the child of the first rule that covers the name, or else without one.
    func namespace(
        _ name: String, obeysRules: Bool = true, make: (String, SocketIOParentNamespace?) -> SocketIONamespace
    ) -> SocketIONamespace {
        if let found = self.found(name) { return found }
        let parent = obeysRules ? self.state.withLockedValue({ $0.parents }).first { $0.covers(name) } : nil
        return self.making.withLock { self.found(name) ?? self.open(make(name, parent), isKept: true) }
    }

    /// The namespace a client asks for, reserved for it until ``SocketIONamespace/release()``; `nil` when there is none and no rule makes it.
    func admit(_ name: String, auth: SocketIOValue, make: (SocketIOParentNamespace) -> SocketIONamespace) -> SocketIONamespace? {
        if let found = self.reserved(name) { return found }
        // Outside the lock: the predicates are the application's.
        guard let parent = self.state.withLockedValue({ $0.parents }).first(where: { $0.matches(name, auth) }) else { return nil }
        return self.making.withLock {
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

    /// A namespace lost a socket or a reservation: a dynamic one that is empty now goes.
    func becameIdle(_ namespace: SocketIONamespace) {
        guard self.removesEmpty, namespace.parent != nil, namespace.isIdle else { return }
        // Held until it is closed: a successor of the same name opens afterwards, for its parent and for the cluster.
        self.making.withLock {
            let isGone = self.state.withLockedValue { state in
                // Asked again, under the lock that reserves: somebody may have come in meanwhile.
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

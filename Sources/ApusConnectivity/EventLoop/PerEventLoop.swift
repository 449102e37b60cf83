package import NIOConcurrencyHelpers
package import NIOCore

/// One value for each event loop, made when it is first asked for: what connections share without a lock.
///
/// Inlinable, for each new connection asks several times, and a lookup that is not specialized is most of what that costs.
package final class PerEventLoop<Value>: Sendable {
    @usableFromInline
    struct Entry: Sendable {
        // A bound value keeps its event loop, so an address stands for one loop only.
        @usableFromInline let loop: ObjectIdentifier
        @usableFromInline let value: NIOLoopBound<Value>

        @inlinable
        init(loop: ObjectIdentifier, value: NIOLoopBound<Value>) {
            self.loop = loop
            self.value = value
        }
    }

    /// They are few: to hash one takes longer than to look.
    @usableFromInline let entries = NIOLockedValueBox<[Entry]>([])
    @usableFromInline let make: @Sendable (any EventLoop) -> Value

    /// - Parameter make: Called on the event loop.
    package init(_ make: @escaping @Sendable (any EventLoop) -> Value) {
        self.make = make
    }

    /// The value of an event loop, on that loop.
    @inlinable
    package func value(on eventLoop: any EventLoop) -> Value {
        let id = ObjectIdentifier(eventLoop)
        let present = self.entries.withLockedValue { entries in entries.first { $0.loop == id } }
        if let present { return present.value.value }
        let value = self.make(eventLoop)
        self.entries.withLockedValue { $0.append(Entry(loop: id, value: NIOLoopBound(value, eventLoop: eventLoop))) }
        return value
    }
}

import NIOConcurrencyHelpers
package import NIOCore

/// One value for each event loop, made when it is first asked for: what connections share without a lock.
package final class PerEventLoop<Value>: Sendable {
    // A bound value keeps its event loop, so an address stands for one loop only. They are few: to hash one takes longer than to look.
    private let values = NIOLockedValueBox<[(loop: ObjectIdentifier, value: NIOLoopBound<Value>)]>([])
    private let make: @Sendable (any EventLoop) -> Value

    /// - Parameter make: Called on the event loop.
    package init(_ make: @escaping @Sendable (any EventLoop) -> Value) {
        self.make = make
    }

    /// The value of an event loop, on that loop.
    package func value(on eventLoop: any EventLoop) -> Value {
        let id = ObjectIdentifier(eventLoop)
        let present = self.values.withLockedValue { values in
            for entry in values where entry.loop == id { return entry.value as NIOLoopBound<Value>? }
            return nil
        }
        if let present { return present.value }
        let value = self.make(eventLoop)
        self.values.withLockedValue { $0.append((id, NIOLoopBound(value, eventLoop: eventLoop))) }
        return value
    }
}

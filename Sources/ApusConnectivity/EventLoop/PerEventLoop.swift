import NIOConcurrencyHelpers
package import NIOCore

/// One object for each event loop, made when it is first asked for: what connections share without a lock.
package final class PerEventLoop<Value: AnyObject>: Sendable {
    private let values = NIOLockedValueBox(EventLoopValues())
    private let make: @Sendable (any EventLoop) -> Value

    /// - Parameter make: Called on the event loop.
    package init(_ make: @escaping @Sendable (any EventLoop) -> Value) {
        self.make = make
    }

    /// The object of an event loop, on that loop.
    package func value(on eventLoop: any EventLoop) -> Value {
        eventLoop.preconditionInEventLoop()
        // Nothing else is put there.
        if let present = self.values.withLockedValue({ $0.value(of: eventLoop) }) { return unsafeDowncast(present, to: Value.self) }
        let value = self.make(eventLoop)
        self.values.withLockedValue { $0.append(value, of: eventLoop) }
        return value
    }
}

/// Not generic: each new connection asks several times, and of a generic lookup most is the looking up of types.
private struct EventLoopValues: @unchecked Sendable {
    // Unchecked because: a value leaves on its own event loop only.

    /// They are few: to hash one takes longer than to look. Keeps the loop, so that its address stands for no other.
    private var entries: [(loop: any EventLoop, value: AnyObject)] = []

    func value(of eventLoop: any EventLoop) -> AnyObject? {
        for entry in self.entries where entry.loop === eventLoop { return entry.value }
        return nil
    }

    mutating func append(_ value: AnyObject, of eventLoop: any EventLoop) {
        self.entries.append((eventLoop, value))
    }
}

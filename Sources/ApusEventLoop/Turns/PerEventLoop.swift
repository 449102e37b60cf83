import NIOConcurrencyHelpers
package import NIOCore

/// One object for each event loop, created on first use. Connections of one loop share it without a
/// lock.
package final class PerEventLoop<Value: AnyObject>: Sendable {
    private let values = NIOLockedValueBox(EventLoopValues())
    private let make: @Sendable (any EventLoop) -> Value

    /// - Parameter make: Creates the object of an event loop. Called on that loop.
    package init(_ make: @escaping @Sendable (any EventLoop) -> Value) {
        self.make = make
    }

    /// Returns the object of an event loop. Must be called on that loop.
    package func value(on eventLoop: any EventLoop) -> Value {
        eventLoop.preconditionInEventLoop()
        // The list contains only objects created by `make`.
        if let present = self.values.withLockedValue({ $0.value(of: eventLoop) }) { return unsafeDowncast(present, to: Value.self) }
        let value = self.make(eventLoop)
        self.values.withLockedValue { $0.append(value, of: eventLoop) }
        return value
    }
}

/// The objects by event loop.
///
/// The type is not generic, because a generic lookup would spend most of its time on type metadata,
/// and each new connection requires several lookups.
private struct EventLoopValues: Sendable {
    /// The entries form a list, because hashing takes longer than searching a few entries. Retains
    /// the loops, so that no other loop can have the address of an entry.
    private var entries: [NIOLoopBound<AnyObject>] = []

    func value(of eventLoop: any EventLoop) -> AnyObject? {
        for entry in self.entries where entry.eventLoop === eventLoop { return entry.value }
        return nil
    }

    mutating func append(_ value: AnyObject, of eventLoop: any EventLoop) {
        self.entries.append(NIOLoopBound(value, eventLoop: eventLoop))
    }
}

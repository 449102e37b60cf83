package import NIOCore

// A type whose state is confined to an event loop has two parts. The first is a class with the
// variables, which is not `Sendable`. The second is a `Sendable` type with constants that any
// thread may use. The second stores the first in a `NIOLoopBoundBox`, which traps if it is used on
// another thread.

extension EventLoop {
    /// Runs `body` on the event loop: immediately if called there, otherwise in a later turn. Calls
    /// from one thread keep their order.
    package func runOnLoop(_ body: @escaping @Sendable () -> Void) {
        if self.inEventLoop { body() } else { self.execute(body) }
    }
}

extension NIOLoopBoundBox {
    /// Creates a box for an object that was created outside the event loop and is used only on the
    /// event loop.
    package static func sending(_ value: sending Value, to eventLoop: any EventLoop) -> NIOLoopBoundBox<Value> {
        .makeBoxSendingValue(value, as: Value.self, eventLoop: eventLoop)
    }

    /// Calls `body` with the object on the event loop: immediately if called there, otherwise in a
    /// later turn. Calls from one thread keep their order.
    package func onLoop(_ body: @escaping @Sendable (Value) -> Void) {
        if self.eventLoop.inEventLoop { body(self.value) } else { self.eventLoop.execute { body(self.value) } }
    }
}

/// A weak reference to an object that is confined to an event loop. Any thread may store the
/// reference.
package struct WeakLoopBound<Object: AnyObject>: Sendable {
    private struct Reference {
        weak var object: Object?
    }

    private let reference: NIOLoopBound<Reference>

    /// Creates a reference. Must be called on the event loop.
    package init(_ object: Object, on eventLoop: any EventLoop) {
        self.reference = NIOLoopBound(Reference(object: object), eventLoop: eventLoop)
    }

    /// The object, unless it was deallocated. Must be accessed on the event loop.
    package var object: Object? { self.reference.value.object }

    /// Calls `body` with the object on the event loop: immediately if called there, otherwise in a
    /// later turn. Does nothing if the object was deallocated.
    package func onLoop(_ body: @escaping @Sendable (Object) -> Void) {
        guard self.reference.eventLoop.inEventLoop else { return self.inLaterTurn(body) }
        if let object = self.object { body(object) }
    }

    /// Calls `body` with the object in a later turn of the event loop, even when called there.
    /// Does nothing if the object was deallocated.
    package func inLaterTurn(_ body: @escaping @Sendable (Object) -> Void) {
        self.reference.eventLoop.execute {
            if let object = self.object { body(object) }
        }
    }
}

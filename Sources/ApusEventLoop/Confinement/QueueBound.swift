import Dispatch

/// A value that is used on one serial dispatch queue only, for work that blocks its thread, such as
/// the access to a database.
///
/// `@unchecked Sendable`: the value is sent to the initializer, and used on the queue only.
package final class QueueBound<Value>: @unchecked Sendable {
    private let value: Value
    private let queue: DispatchQueue

    /// - Parameters:
    ///   - value: The value, to which no other reference may remain.
    ///   - label: The label of the queue.
    package init(_ value: sending Value, label: String) {
        self.value = value
        self.queue = DispatchQueue(label: label)
    }

    /// Runs `body` with the value on the queue, after the bodies of earlier calls, and waits for
    /// its result.
    package func run<Result: Sendable>(_ body: @escaping @Sendable (Value) throws -> Result) async throws -> Result {
        try await withCheckedThrowingContinuation { continuation in
            self.queue.async { continuation.resume(with: Swift.Result { try body(self.value) }) }
        }
    }
}

/// The work of one codec, state machine or route, for `Benchmarks/Micro/run` and
/// `scripts/check-allocations`.
public struct Work: Sendable {
    /// The name of the work, with its size.
    public let name: String
    /// Prepares the work, and returns a function that runs it a number of times.
    public let make: @Sendable () throws -> (Int) throws -> Void

    init(_ name: String, _ make: @escaping @Sendable () throws -> (Int) throws -> Void) {
        self.name = name
        self.make = make
    }

    /// The work of every codec, state machine and route.
    public static let all: [Work] = Self.webSocket + Self.json + Self.engineIO + Self.socketIO + Self.framed + Self.machines + Self.routes
}

/// Prevents the optimizer from removing a result.
@inline(never) func use<Value>(_ value: Value) {}

struct WorkFailure: Error {
    let message: String
}

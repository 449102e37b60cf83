/// A piece of work of one codec or machine, for `Benchmarks/micro` and `scripts/check-allocations`.
public struct Work: Sendable {
    /// What is done, with its size.
    public let name: String
    /// Prepares, and answers what does the work so many times.
    public let make: @Sendable () throws -> (Int) throws -> Void

    init(_ name: String, _ make: @escaping @Sendable () throws -> (Int) throws -> Void) {
        self.name = name
        self.make = make
    }

    /// Every codec and machine.
    public static let all: [Work] = Self.webSocket + Self.json + Self.engineIO + Self.socketIO + Self.framed + Self.machines
}

/// Keeps a result from being optimised away.
@inline(never) func use<Value>(_ value: Value) {}

struct WorkFailure: Error {
    let message: String
}

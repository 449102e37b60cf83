/// Decides whether a request that failed is sent again.
package struct S3Retry: Hashable, Sendable {
    /// The maximum number of attempts.
    package static let attempts = 4

    private var failures = 0

    package init() {}

    /// Returns the time until the next attempt; `nil` if the request must not be sent again.
    package mutating func failed(_ error: S3Error) -> Duration? {
        guard error.code == .unreachable else { return nil }
        self.failures += 1
        guard self.failures < Self.attempts else { return nil }
        return .milliseconds(200 << (self.failures - 1))
    }
}

package import NIOConcurrencyHelpers

extension NIOLockedValueBox {
    /// Calls `body` under the lock, as `withLockedValue` does, and rethrows a typed error.
    package func withLock<Result, Failure: Error>(_ body: (inout Value) throws(Failure) -> Result) throws(Failure) -> Result {
        try self.withLockedValue { value in
            Swift.Result { () throws(Failure) in try body(&value) }
        }.get()
    }
}

extension Task where Success: Sendable {
    /// Waits for the result at most for a time. The task continues after it.
    ///
    /// - Returns: Nil if the time has passed, or if the waiting task is cancelled.
    func result(within time: Duration) async -> Result<Success, Failure>? {
        let (results, continuation) = AsyncStream.makeStream(of: Result<Success, Failure>.self)
        let waiter = Task<Void, Never> {
            continuation.yield(await self.result)
            continuation.finish()
        }
        let timer = Task<Void, any Error> {
            try await Task<Never, Never>.sleep(for: time)
            continuation.finish()
        }
        defer {
            waiter.cancel()
            timer.cancel()
        }
        return await results.first { _ in true }
    }
}

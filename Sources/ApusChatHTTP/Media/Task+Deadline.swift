extension Task where Success: Sendable {
    /// Waits for the result of the task for at most a given time. The task continues after that
    /// time.
    ///
    /// - Returns: The result; nil if the time has passed, or if the waiting task is cancelled.
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

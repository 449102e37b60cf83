/// One client of the load. Lives on the event loop of its worker.
protocol BenchPeer: AnyObject {
    /// Sends as many messages as there is room for, `count` at most, all meant for `time`. Answers how many went.
    func send(_ count: Int, meantFor time: UInt64) -> Int

    /// Forgets what has no answer, and says when that was sent.
    func takeUnanswered() -> [UInt64]

    /// Says goodbye and ends.
    func close()
}

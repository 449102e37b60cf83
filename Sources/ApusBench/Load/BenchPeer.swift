/// A client of the load generator. Confined to the event loop of its worker.
protocol BenchPeer: AnyObject {
    /// Sends at most `count` messages, limited by the free slots, all scheduled for `time`.
    /// - Returns: The number of messages sent.
    func send(_ count: Int, meantFor time: UInt64) -> Int

    /// Removes the unanswered messages and returns their send times.
    func takeUnanswered() -> [UInt64]

    /// Closes the connection.
    func close()
}

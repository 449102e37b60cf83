import Dispatch

/// Runs the engine on a dedicated queue, because the store waits for the disk and must not block a
/// thread of the cooperative pool.
final class StoreExecutor: SerialExecutor {
    private let queue = DispatchQueue(label: "apus.chat.engine")

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        self.queue.async { job.runSynchronously(on: self.asUnownedSerialExecutor()) }
    }
}

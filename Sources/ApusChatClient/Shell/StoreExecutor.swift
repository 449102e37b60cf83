import Dispatch

/// Runs the engine on a queue of its own, because the store blocks on the disk and must not block a
/// thread of the shared pool.
final class StoreExecutor: SerialExecutor {
    private let queue = DispatchQueue(label: "apus.chat.engine")

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        self.queue.async { job.runSynchronously(on: self.asUnownedSerialExecutor()) }
    }
}

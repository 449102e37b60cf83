import Dispatch

/// Runs the engine on a separate queue, because store operations block on the disk and must not
/// block a thread of the shared pool.
final class StoreExecutor: SerialExecutor {
    private let queue = DispatchQueue(label: "apus.chat.client")

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        self.queue.async { job.runSynchronously(on: self.asUnownedSerialExecutor()) }
    }
}

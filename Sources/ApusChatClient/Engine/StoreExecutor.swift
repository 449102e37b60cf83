import Dispatch

/// Runs the engine on a queue of its own: it waits for the disk, and must not hold a thread of the shared pool meanwhile, let alone the main one.
final class StoreExecutor: SerialExecutor {
    private let queue = DispatchQueue(label: "apus.chat.client")

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        self.queue.async { job.runSynchronously(on: self.asUnownedSerialExecutor()) }
    }
}

import ApusFramedProtocol
import NIOCore
import NIOPosix

/// Runs the disk work of a connection's transfers on the thread pool. Confined to its event loop.
///
/// Work that arrives while a job runs is combined into the next job, for any number of transfers:
/// for small files, one job each would cost more than the work. Each transfer submits one list of
/// work at a time.
final class DiskQueue {
    /// The maximum number of concurrent jobs. With two, a file does not wait while another large
    /// file is hashed.
    private static let maximumJobs = 2

    private struct Item {
        var works: [DiskWork]
        var done: (DiskWork.Outcome) -> Void
    }

    private let eventLoop: any EventLoop
    private var waiting: [Item] = []
    private var activeJobs = 0
    private var isScheduled = false

    init(eventLoop: any EventLoop) {
        self.eventLoop = eventLoop
    }

    func submit(_ works: [DiskWork], done: @escaping (DiskWork.Outcome) -> Void) {
        self.waiting.append(Item(works: works, done: done))
        guard !self.isScheduled, self.activeJobs < Self.maximumJobs else { return }
        self.isScheduled = true
        // The job starts after the other frames of the same read were handled.
        self.eventLoop.assumeIsolated().execute {
            self.isScheduled = false
            self.startJob()
        }
    }

    private func startJob() {
        guard !self.waiting.isEmpty, self.activeJobs < Self.maximumJobs else { return }
        self.activeJobs += 1
        let items = self.waiting
        self.waiting = []
        let lists = items.map(\.works)
        NIOThreadPool.singleton.runIfActive(eventLoop: self.eventLoop) { DiskWork.perform(lists) }.assumeIsolated().whenComplete { result in
            self.activeJobs -= 1
            switch result {
            case .success(let outcomes): for (item, outcome) in zip(items, outcomes) { item.done(outcome) }
            case .failure:
                let failure = TransferError(.storage, message: "the disk operation was not performed: the thread pool has shut down")
                for item in items { item.done(DiskWork.Outcome(failure: failure)) }
            }
            self.startJob()
        }
    }
}

@available(*, unavailable)
extension DiskQueue: Sendable {}

import ApusFramedProtocol
import NIOCore
import NIOPosix

/// Brings the work of a connection's transfers to the threads of the pool. Confined to its event loop.
///
/// All that has come up while a thread was on its way goes with the next one, for however many transfers: of small files, a visit for each would
/// cost more than the work. Of one transfer there is only one list of work under way at a time, which the transfer sees to.
final class DiskQueue {
    /// Several large files need not wait for each other's hashes.
    private static let maximumVisits = 2

    private struct Item {
        var works: [DiskWork]
        var done: (DiskWork.Outcome) -> Void
    }

    private let eventLoop: any EventLoop
    private var waiting: [Item] = []
    private var visits = 0
    private var isScheduled = false

    init(eventLoop: any EventLoop) {
        self.eventLoop = eventLoop
    }

    func submit(_ works: [DiskWork], done: @escaping (DiskWork.Outcome) -> Void) {
        self.waiting.append(Item(works: works, done: done))
        guard !self.isScheduled, self.visits < Self.maximumVisits else { return }
        self.isScheduled = true
        // After what else has come with the same read.
        self.eventLoop.assumeIsolated().execute {
            self.isScheduled = false
            self.visit()
        }
    }

    private func visit() {
        guard !self.waiting.isEmpty, self.visits < Self.maximumVisits else { return }
        self.visits += 1
        let items = self.waiting
        self.waiting = []
        let lists = items.map(\.works)
        NIOThreadPool.singleton.runIfActive(eventLoop: self.eventLoop) { DiskWork.perform(lists) }.assumeIsolated().whenComplete { result in
            self.visits -= 1
            switch result {
            case .success(let outcomes): for (item, outcome) in zip(items, outcomes) { item.done(outcome) }
            case .failure:
                let failure = TransferError(.storage, message: "the disk's threads are gone")
                for item in items { item.done(DiskWork.Outcome(failure: failure)) }
            }
            self.visit()
        }
    }
}

@available(*, unavailable)
extension DiskQueue: Sendable {}

import ApusFramedProtocol
import NIOConcurrencyHelpers
import NIOCore

/// Performs the disk work of one large transfer in order. Confined to its event loop.
///
/// Work can be added while a thread is busy. A thread that has finished its current list continues
/// with all pending work.
final class DiskBacklog {
    private let eventLoop: any EventLoop
    private let queue = SerialDiskQueue()
    private let works = NIOLockedValueBox<[DiskWork]>([])
    private var activeJobs = 0
    private let bytesChanged: (Int) -> Void

    /// Creates an empty backlog.
    ///
    /// - Parameter bytesChanged: Receives the change in the number of bytes that wait to be
    ///   written.
    init(eventLoop: any EventLoop, bytesChanged: @escaping (Int) -> Void) {
        self.eventLoop = eventLoop
        self.bytesChanged = bytesChanged
    }

    /// Whether all added work is performed and reported.
    var isEmpty: Bool { self.activeJobs == 0 }

    /// Adds work.
    ///
    /// - Parameter done: Called once per performed list, possibly for work of other calls.
    func append(_ work: DiskWork, done: @escaping (DiskWork.Outcome) -> Void) {
        self.bytesChanged(work.byteCount)
        let isFirst = self.works.withLockedValue { works in
            works.append(work)
            return works.count == 1
        }
        guard isFirst else { return }  // a job is already submitted
        self.activeJobs += 1
        let works = self.works
        let job = self.queue.run(on: self.eventLoop) {
            let begun = Self.takeAll(works)
            return (DiskWork.perform([begun]), begun.reduce(0) { $0 + $1.byteCount })
        }
        job.assumeIsolated().whenComplete { result in
            self.activeJobs -= 1
            guard case .success((let outcomes, let bytes)) = result, let outcome = outcomes.first else { return }
            self.bytesChanged(-bytes)
            done(outcome)
        }
    }

    /// Discards the work that has not begun.
    func removeAll() {
        self.bytesChanged(-Self.takeAll(self.works).reduce(0) { $0 + $1.byteCount })
    }

    private static func takeAll(_ works: NIOLockedValueBox<[DiskWork]>) -> [DiskWork] {
        works.withLockedValue { works in
            defer { works = [] }
            return works
        }
    }
}

@available(*, unavailable)
extension DiskBacklog: Sendable {}

extension DiskWork {
    /// The memory that the work retains, in bytes.
    fileprivate var byteCount: Int { if case .append(_, let count, to: _) = self { count } else { 0 } }
}

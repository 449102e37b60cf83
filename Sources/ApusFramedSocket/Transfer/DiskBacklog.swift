import ApusFramedProtocol
import NIOConcurrencyHelpers
import NIOCore

/// What one large transfer wants of the disk, done in order. Confined to its event loop.
///
/// More may be added while a thread is at it; the thread takes all there is whenever it is done with what it had.
final class DiskBacklog {
    private let eventLoop: any EventLoop
    private let lane = SerialDiskQueue()
    private let works = NIOLockedValueBox<[DiskWork]>([])
    private var visits = 0
    private let bytesChanged: (Int) -> Void

    /// - Parameter bytesChanged: Told how many bytes more, or fewer, wait to be written.
    init(eventLoop: any EventLoop, bytesChanged: @escaping (Int) -> Void) {
        self.eventLoop = eventLoop
        self.bytesChanged = bytesChanged
    }

    /// Whether all that was added is done and reported.
    var isEmpty: Bool { self.visits == 0 }

    /// - Parameter done: Called for what was done in one go, once; not necessarily that of the call which added it.
    func append(_ work: DiskWork, done: @escaping (DiskWork.Outcome) -> Void) {
        self.bytesChanged(work.byteCount)
        let isFirst = self.works.withLockedValue { works in
            works.append(work)
            return works.count == 1
        }
        guard isFirst else { return }  // a visit is on its way
        self.visits += 1
        let works = self.works
        let visit = self.lane.run(on: self.eventLoop) {
            let begun = Self.takeAll(works)
            return (DiskWork.perform([begun]), begun.reduce(0) { $0 + $1.byteCount })
        }
        visit.assumeIsolated().whenComplete { result in
            self.visits -= 1
            guard case .success((let outcomes, let bytes)) = result, let outcome = outcomes.first else { return }
            self.bytesChanged(-bytes)
            done(outcome)
        }
    }

    /// Leaves out what was not begun.
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
    /// What it holds of memory.
    fileprivate var byteCount: Int { if case .append(_, let count, to: _) = self { count } else { 0 } }
}

import ApusChatStorage
import ApusEventLoop
import Logging
import NIOConcurrencyHelpers
import NIOCore
import NIOPosix

/// Updates the search index on a dedicated thread.
///
/// Confined to its event loop; `committed` and `close` may be called on any thread.
final class SearchIndexer: Sendable {
    /// The time from a commit to the update. Because of the delay, one update can index several
    /// messages.
    private static let delay = TimeAmount.milliseconds(250)
    /// The time after which a failed update is retried, for example because the disk was full.
    private static let pause = TimeAmount.seconds(30)

    private struct State {
        var index: (any SearchIndexing)?
        var isScheduled = false
        var lastChange: Int64 = 0
    }

    private let group = MultiThreadedEventLoopGroup(numberOfThreads: 1)
    private let eventLoop: any EventLoop
    private let state: NIOLoopBoundBox<State>
    /// Whether an update will follow the commits so far, so that few commits wake the thread.
    private let isNotified = NIOLockedValueBox(false)
    private let monotonic: @Sendable () -> Int64
    private let logger: Logger

    /// - Parameter monotonic: Returns the time of a monotonic clock, in milliseconds.
    init(_ index: consuming sending any SearchIndexing, monotonic: @escaping @Sendable () -> Int64, logger: Logger) {
        self.monotonic = monotonic
        self.eventLoop = self.group.any()
        self.logger = logger
        self.state = .sending(State(index: index), to: self.eventLoop)
        self.eventLoop.execute {
            self.state.value.index?.whenDamaged { [weak self] in self?.damaged() }
            self.schedule(in: .zero)
        }
    }

    /// Schedules the rebuild of the index after a search has found damage.
    private func damaged() {
        self.logger.warning("The search index is damaged and is rebuilt")
        self.eventLoop.execute { self.schedule(in: .zero) }
    }

    /// Schedules an update after messages were committed.
    func committed() {
        let isFirst = self.isNotified.withLockedValue { isNotified in
            defer { isNotified = true }
            return !isNotified
        }
        if isFirst { self.eventLoop.execute { self.schedule(in: Self.delay) } }
    }

    /// Returns the number of the last change in the index.
    func lastChange() async throws -> Int64 { try await self.eventLoop.submit { self.state.value.lastChange }.get() }

    /// Stops the thread after the running update.
    func close() async {
        try? await self.eventLoop.submit { self.state.value.index = nil }.get()
        try? await self.group.shutdownGracefully()
    }

    private func schedule(in time: TimeAmount) {
        guard self.state.value.index != nil, !self.state.value.isScheduled else { return }
        self.state.value.isScheduled = true
        self.eventLoop.scheduleTask(in: time) {
            self.state.value.isScheduled = false
            self.update()
        }
    }

    private func update() {
        self.isNotified.withLockedValue { $0 = false }
        guard let index = self.state.value.index else { return }
        do {
            let hasMore = try index.update(at: self.monotonic())
            self.state.value.lastChange = index.lastChange
            if hasMore { self.schedule(in: .zero) }
        } catch {
            self.logger.warning("The search index could not be updated", metadata: ["error": "\(error)"])
            self.schedule(in: Self.pause)
        }
    }
}

import ApusConnectivity
import ApusWebSocket
import ApusWebSocketProtocol
import NIOCore

/// Opens the connections of one worker, spread over the ramp and with a limit on concurrent
/// attempts. Confined to the worker's loop.
final class BenchOpener {
    struct Result: Sendable {
        var opened = 0
        var failed = 0
        var firstError: (any Error)?
        var statistics = BenchStatistics()
    }

    private unowned let worker: BenchWorker
    private let count: Int
    private let promise: EventLoopPromise<Result>
    private var started = 0
    private var underWay = 0
    private var result = Result()
    private var begin: UInt64 = 0

    init(worker: BenchWorker, count: Int) {
        self.worker = worker
        self.count = count
        self.promise = worker.eventLoop.makePromise()
    }

    var futureResult: EventLoopFuture<Result> { self.promise.futureResult }

    func start() {
        self.begin = BenchWorker.now
        self.openMore()
    }

    private func openMore() {
        let width = max(self.worker.plan.opening / self.worker.plan.threads, 1)
        while self.started < self.count, self.underWay < width {
            let wait = self.timeUntilNext()
            guard wait <= 0 else {
                self.worker.eventLoop.assumeIsolated().scheduleTask(in: .nanoseconds(wait)) { self.openMore() }
                return
            }
            self.openOne()
        }
        if self.result.opened + self.result.failed == self.count { self.promise.succeed(self.result) }
    }

    private func timeUntilNext() -> Int64 {
        let ramp = self.worker.plan.ramp / .nanoseconds(1)
        let target = Double(self.begin) + ramp * Double(self.started) / Double(max(self.count, 1))
        return Int64(target) - Int64(clamping: BenchWorker.now)
    }

    private func openOne() {
        self.started += 1
        self.underWay += 1
        let begin = BenchWorker.now
        let promise = self.worker.eventLoop.makePromise(of: Void.self)
        if self.worker.plan.polling {
            BenchPollingClient(worker: self.worker, number: self.started - 1, ready: promise).start()
        } else {
            BenchConnection.open(for: self.worker, number: self.started - 1, ready: promise)
        }
        promise.futureResult.assumeIsolated().whenComplete { result in
            self.underWay -= 1
            switch result {
            case .success:
                self.result.opened += 1
                self.result.statistics.answered(sent: begin, at: BenchWorker.now)
            case .failure(let error):
                self.result.failed += 1
                self.result.firstError = self.result.firstError ?? error
            }
            self.openMore()
        }
    }
}

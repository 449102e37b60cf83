import ApusCommandSupport
import NIOCore
import NIOPosix

/// Applies a load to a server and measures it.
struct BenchRun {
    /// The progress of a running load.
    struct Progress: Sendable {
        enum Stage: String, Sendable { case opening, warmingUp = "warming up", measuring, idle }

        var stage: Stage
        var connections: Int
        /// The number of answers in the last second.
        var messages: Int
        /// The 99th percentile of the latency in microseconds.
        var p99: Double?
    }

    /// The maximum time to wait for outstanding answers at the end.
    private static let drain = Duration.seconds(2)

    let plan: BenchPlan
    let progress: @Sendable (Progress) -> Void

    /// Runs the load and returns its result.
    /// - Throws: ``BenchError`` if no connection could be opened.
    func run() async throws -> BenchReport {
        BenchProcess.raiseDescriptorLimit()
        FreedMemory.keep()
        let group = MultiThreadedEventLoopGroup(numberOfThreads: self.plan.threads)
        let workers = Array(group.makeIterator()).enumerated().map { index, loop in
            let worker = BenchLoopBound(plan: self.plan, loop: index, eventLoop: loop)
            return worker
        }
        do {
            let report = try await self.measure(workers)
            try await group.shutdownGracefully()
            return report
        } catch {
            try? await group.shutdownGracefully()
            throw error
        }
    }

    private func measure(_ workers: [BenchLoopBound]) async throws -> BenchReport {
        let process = self.plan.serverProcess
        let residentBefore = process.flatMap(BenchProcess.residentBytes(of:))
        let serverCPUBefore = process.flatMap(BenchProcess.cpuSeconds(of:))
        var setUp = try await self.reporting(.opening, workers) { try await self.open(workers) }
        if let before = serverCPUBefore, let after = process.flatMap(BenchProcess.cpuSeconds(of:)) {
            setUp.serverCPUSeconds = after - before
        }
        let residentConnected = process.flatMap(BenchProcess.residentBytes(of:))

        for worker in workers { try await worker.run { $0.startSending() } }
        if self.plan.inFlight > 0 { try await self.reporting(.warmingUp, workers) { try await Task.sleep(for: self.plan.warmUp) } }
        let toolCPU = BenchProcess.ownCPUSeconds
        let serverCPU = process.flatMap(BenchProcess.cpuSeconds(of:))
        for worker in workers { try await worker.run { $0.startMeasuring() } }
        try await self.reporting(self.plan.inFlight > 0 ? .measuring : .idle, workers) { try await Task.sleep(for: self.plan.duration) }
        for worker in workers { try await worker.run { $0.stopSending() } }
        let toolCPUSeconds = BenchProcess.ownCPUSeconds - toolCPU
        let serverAfter = process.flatMap(BenchProcess.cpuSeconds(of:))
        let residentAfter = process.flatMap(BenchProcess.residentBytes(of:))
        try await self.waitForAnswers(workers)

        var statistics = BenchStatistics()
        var seconds = 0.0
        var lost = 0
        for worker in workers {
            let part = try await worker.run { $0.finish() }
            statistics.add(part.statistics)
            seconds = max(seconds, part.seconds)
            lost += part.lost
        }
        var server: BenchReport.Server?
        if let serverCPU, let serverAfter, let residentBefore, let residentConnected, let residentAfter {
            server = .init(
                cpuSeconds: serverAfter - serverCPU, residentBefore: residentBefore, residentConnected: residentConnected,
                residentAfter: residentAfter)
        }
        var report = BenchReport(
            load: self.plan.summary, url: self.plan.url, seconds: seconds, messages: statistics.messages, size: self.plan.size,
            connections: self.plan.connections, latency: statistics.summary, correctsOmission: self.plan.rate != nil,
            unanswered: statistics.unanswered, lost: lost, setUp: setUp, server: server, toolCPUSeconds: toolCPUSeconds,
            toolCores: self.plan.threads, sends: statistics.sends, lateSends: statistics.lateSends)
        report.judgeTool()
        return report
    }

    private func open(_ workers: [BenchLoopBound]) async throws -> BenchReport.SetUp {
        let begin = BenchWorker.now
        var total = BenchOpener.Result()
        for result in workers.map({ $0.open() }) {
            let part = try await result.get()
            total.opened += part.opened
            total.failed += part.failed
            total.firstError = total.firstError ?? part.firstError
            total.statistics.add(part.statistics)
        }
        if total.opened == 0, let error = total.firstError {
            throw BenchError("no connection to \(self.plan.url): \(TLSOptions.advice(for: error) ?? ErrorText.line(error))")
        }
        return BenchReport.SetUp(
            opened: total.opened, failed: total.failed, seconds: Double(BenchWorker.now - begin) / 1e9, latency: total.statistics.summary)
    }

    private func waitForAnswers(_ workers: [BenchLoopBound]) async throws {
        let end = ContinuousClock.now + Self.drain
        while ContinuousClock.now < end {
            var isAnswered = true
            for worker in workers where try await !worker.run({ $0.isAnswered }) { isAnswered = false }
            if isAnswered { return }
            try await Task.sleep(for: .milliseconds(10))
        }
    }

    /// Runs `body` and reports the progress every second.
    private func reporting<Result: Sendable>(
        _ stage: Progress.Stage, _ workers: [BenchLoopBound], _ body: @escaping @Sendable () async throws -> Result
    ) async throws -> Result {
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask {
                var last = 0
                while true {
                    try await Task.sleep(for: .seconds(1))
                    var progress = Progress(stage: stage, connections: 0, messages: 0)
                    var statistics = BenchStatistics()
                    for worker in workers {
                        let (part, connections) = try await worker.run { ($0.statistics, $0.openedCount) }
                        statistics.add(part)
                        progress.connections += connections
                    }
                    progress.messages = statistics.messages - last
                    last = statistics.messages
                    progress.p99 = statistics.summary?.p99
                    self.progress(progress)
                }
            }
            defer { group.cancelAll() }
            return try await body()
        }
    }
}

/// Gives tasks access to a worker on its event loop.
private struct BenchLoopBound: Sendable {
    private let eventLoop: any EventLoop
    private let worker: NIOLoopBoundBox<BenchWorker?>
    private let plan: BenchPlan
    private let loop: Int

    init(plan: BenchPlan, loop: Int, eventLoop: any EventLoop) {
        self.eventLoop = eventLoop
        self.plan = plan
        self.loop = loop
        self.worker = NIOLoopBoundBox.makeEmptyBox(valueType: BenchWorker.self, eventLoop: eventLoop)
    }

    func open() -> EventLoopFuture<BenchOpener.Result> {
        self.eventLoop.flatSubmit {
            let worker = BenchWorker(plan: self.plan, loop: self.loop, eventLoop: self.eventLoop)
            self.worker.value = worker
            return worker.open()
        }
    }

    func run<Result: Sendable>(_ body: @escaping @Sendable (BenchWorker) -> Result) async throws -> Result {
        try await self.eventLoop.submit {
            guard let worker = self.worker.value else { throw BenchError("the load has not started") }
            return body(worker)
        }.get()
    }
}

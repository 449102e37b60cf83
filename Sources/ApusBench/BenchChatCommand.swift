import ApusChatClient
import ApusChatProtocol
import ApusCommandSupport
import ApusConnectivity
import ApusEventLoop
import ArgumentParser
import Foundation
import Logging
import NIOConcurrencyHelpers

/// `apus bench chat`: measures messages through a chat server, from client to client.
struct BenchChatCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "chat", abstract: "Measure messages through a chat server, with a full chat client at each end.",
        discussion: """
            Creates pairs of accounts, named bench_ and eight letters. One client of each pair sends messages to the other. A message \
            is counted when the recipient's client has stored it. Before, it was stored in the sender's store and in the server's log. \
            Use a server of your own: the accounts and messages remain there.
            """)

    @Argument(help: "The server's address, for example http://127.0.0.1:3000.") var url: String

    @Option(help: "The number of pairs of accounts.") var pairs = 5

    @Option(help: "The maximum number of messages in flight for each pair.") var inFlight = 4

    @Option(help: "The size of the text of a message, in bytes.") var size = 64

    @Option(help: "The time to measure, in seconds.") var duration = 5.0

    @Option(help: "The server's process ID, if it runs on this machine: adds its CPU time and memory.") var pid: Int?

    @OptionGroup var tlsOptions: TLSOptions

    @Option(help: "Write the result as JSON to this file; - means standard output.") var json: String?

    func validate() throws {
        try ValidationError.check("--pairs", self.pairs, in: 1...1000)
        try ValidationError.check("--in-flight", self.inFlight, in: 1...1000)
        try ValidationError.check("--size", self.size, in: 1...4000)
        try ValidationError.check("--duration", self.duration, in: 0.001...86_400)
    }

    func run() async throws {
        let folder = URL(fileURLWithPath: NSTemporaryDirectory()).appending(path: "apus-bench-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let begin = ContinuousClock.now
        var pairs: [BenchChatPair] = []
        var statistics = BenchStatistics()
        for number in 0..<self.pairs {
            let start = BenchWorker.now
            pairs.append(try await self.makePair(number, in: folder))
            statistics.answered(sent: start, at: BenchWorker.now)
        }
        let setUp = BenchReport.SetUp(
            opened: 2 * self.pairs, failed: 0, seconds: (ContinuousClock.now - begin) / .seconds(1), latency: statistics.summary)
        let report = try await self.measure(pairs, setUp)
        for pair in pairs { await pair.close() }
        try BenchLoadOptions.write(report, json: self.json)
    }

    private func makePair(_ number: Int, in folder: URL) async throws -> BenchChatPair {
        var clients: [ChatClient] = []
        for side in ["a", "b"] {
            var configuration = ChatClientConfiguration()
            configuration.tls = try self.tlsOptions.settings()
            let letters = UUID().uuidString.lowercased().filter(\.isLetter) + UUID().uuidString.lowercased().filter(\.isLetter)
            let accounts = try ChatAccounts(
                folder: folder.appending(path: "\(number)\(side)").path, configuration: configuration,
                logger: Logger(label: "apus.bench", factory: { _ in SwiftLogNoOpLogHandler() }))
            clients.append(
                try await accounts.signUp(server: self.url, name: "bench_\(letters.prefix(8))", password: UUID().uuidString).client)
        }
        return try await BenchChatPair(sender: clients[0], receiver: clients[1], text: String(repeating: "x", count: self.size))
    }

    private func measure(_ pairs: [BenchChatPair], _ setUp: BenchReport.SetUp) async throws -> BenchReport {
        let inFlight = self.inFlight
        return try await withThrowingTaskGroup(of: Void.self) { group in
            for pair in pairs { group.addTask { try await pair.run(inFlight: inFlight) } }
            try await Task.sleep(for: .seconds(1))
            for pair in pairs { pair.startMeasuring() }
            let (begin, cpu) = (ContinuousClock.now, BenchProcess.ownCPUSeconds)
            let (serverCPU, resident) = (self.pid.flatMap(BenchProcess.cpuSeconds(of:)), self.pid.flatMap(BenchProcess.residentBytes(of:)))
            try await Task.sleep(for: .milliseconds(Int64(self.duration * 1000)))
            var statistics = BenchStatistics()
            for pair in pairs { statistics.add(pair.statistics) }
            let seconds = (ContinuousClock.now - begin) / .seconds(1)
            var server: BenchReport.Server?
            if let serverCPU, let resident, let after = self.pid.flatMap(BenchProcess.cpuSeconds(of:)) {
                let now = self.pid.flatMap(BenchProcess.residentBytes(of:)) ?? resident
                server = .init(cpuSeconds: after - serverCPU, residentBefore: resident, residentConnected: resident, residentAfter: now)
            }
            group.cancelAll()
            var report = BenchReport(
                load: "chat, \(self.size) B text, \(self.pairs) pairs, \(self.inFlight) in flight each", url: self.url, seconds: seconds,
                messages: statistics.messages, size: self.size, connections: 2 * self.pairs, latency: statistics.summary,
                correctsOmission: false,
                unanswered: 0, lost: 0, setUp: setUp, server: server, toolCPUSeconds: BenchProcess.ownCPUSeconds - cpu,
                toolCores: ProcessInfo.processInfo.activeProcessorCount, sends: 0, lateSends: 0)
            report.judgeTool()
            return report
        }
    }
}

/// Two chat clients, one of which sends messages to the other.
final class BenchChatPair: Sendable {
    private struct State {
        /// The send times of the messages in flight, by message number.
        var sent: [Int: UInt64] = [:]
        var statistics = BenchStatistics()
        var isMeasured = false
        /// Whether the receiver shows the conversation.
        var isOpen = false
    }

    private let sender: ChatClient
    private let receiver: ChatClient
    private let conversation: ChatConversation
    private let text: String
    private let state = NIOLockedValueBox(State())

    init(sender: ChatClient, receiver: ChatClient, text: String) async throws {
        self.sender = sender
        self.receiver = receiver
        self.text = text
        self.conversation = try await sender.conversation(with: receiver.user.rawValue)
    }

    var statistics: BenchStatistics { self.state.withLockedValue { $0.statistics } }

    func startMeasuring() {
        self.state.withLockedValue { state in
            state.statistics = BenchStatistics()
            state.isMeasured = true
        }
    }

    /// Sends messages and receives them until the task is cancelled.
    func run(inFlight: Int) async throws {
        let updates = self.receiver.updates(bufferingPolicy: .unbounded)
        var next = 0
        for _ in 0..<inFlight {
            try await self.send(next)
            next += 1
        }
        for await update in updates {
            let now = BenchWorker.now
            for message in try await self.receivedUpdate(update) {
                guard let number = message.text.flatMap({ Int($0.prefix { $0 != " " }) }) else { continue }
                let isOurs = self.state.withLockedValue { state in
                    guard let time = state.sent.removeValue(forKey: number) else { return false }
                    if state.isMeasured { state.statistics.answered(sent: time, at: now) }
                    return true
                }
                guard isOurs else { continue }
                try await self.send(next)
                next += 1
            }
        }
    }

    /// Returns the messages of the conversation that an update adds for the receiver.
    private func receivedUpdate(_ update: ChatUpdate) async throws -> [ChatMessage] {
        switch update {
        case .messages(self.conversation.id, let messages): return messages
        case .heads(let heads) where heads.contains(where: { $0.conversation == self.conversation.id }):
            // Opening the conversation makes the client follow its log.
            let isFirst = self.state.withLockedValue { state in
                defer { state.isOpen = true }
                return !state.isOpen
            }
            guard isFirst else { return [] }
            let conversation = self.receiver.conversation(self.conversation.id)
            await conversation.didOpen()
            return try await conversation.messages().messages
        default: return []
        }
    }

    private func send(_ number: Int) async throws {
        self.state.withLockedValue { $0.sent[number] = BenchWorker.now }
        try await self.conversation.send(String("\(number) \(self.text)".prefix(max(self.text.count, 12))))
    }

    func close() async {
        await self.sender.close()
        await self.receiver.close()
    }
}

import ApusBytes
import ApusCommandSupport
import ApusConnectivity
import ApusEventLoop
import ApusFramedProtocol
import ApusFramedSocket
import ApusJSON
import Foundation
import NIOConcurrencyHelpers
import NIOCore

/// A run of `apus send`: the connections, the files and the exit code. A lost connection is
/// replaced by a new one.
final class SendSession: Sendable {
    struct Options: Sendable {
        var address: ListenAddress
        /// The address as specified by the user.
        var addressText: String
        var trust: ReceiverCredentials
        var keepsAttributes = false
        var bytesPerSecond: Int?
        var maximumConcurrentFiles = 4
        /// The maximum time for reconnecting after a lost connection.
        var patience: Duration = .seconds(30)
    }

    private struct State: Sendable {
        /// The names of the completed files, which are not sent again in this run.
        var completed: Set<String> = []
        var completedBytes = 0
        /// The failed files by name, with the error that was printed.
        var failed: [String: TransferError] = [:]
        var leftOut: Set<String> = []
        var busy: Set<String> = []
        var hasAnswer = false
    }

    /// A refusal by the receiver, with its reason.
    private struct Refusal: Error {
        var message: String
    }

    /// The time to wait for the receiver's answer to the first message.
    private static let answerTimeout = Duration.seconds(10)
    /// The maximum number of files that are printed individually at a terminal.
    private static let mostLines = 20

    private let paths: [String]
    private let files: Int
    private let bytes: Int
    private let options: Options
    private let output: TransferOutput
    private let state = NIOLockedValueBox(State())

    init(paths: [String], files: Int, bytes: Int, options: Options, output: TransferOutput) {
        self.paths = paths
        self.files = files
        self.bytes = bytes
        self.options = options
        self.output = output
        output.update { board, _ in
            board.totalFiles = files
            board.totalBytes = bytes
        }
    }

    /// Sends all files and returns the exit code.
    func run() async -> Int32 {
        let line = Task { await self.output.run() }
        let (result, signal) = await TransferInterruption.run(onFirst: {}, onSecond: { self.output.clear() }) { try await self.sendAll() }
        line.cancel()
        self.output.clear()
        let code: Int32
        switch result {
        case .success: code = self.summarize()
        case .failure(let error):
            let message: String
            if let signal {
                message = "interrupted; run the same command again to resume"
                code = signal
            } else if let refusal = error as? Refusal {
                message = "the receiver refused: \(refusal.message)"
                code = 77
            } else {
                let isPlain = self.options.trust.tls == nil && !self.state.withLockedValue { $0.hasAnswer }
                message = TransferFailure.advice(for: error, address: self.options.addressText, isPlain: isPlain)
                code = TransferFailure.exitCode(for: error)
            }
            self.output.note("apus send: \(message)")
            self.output.event("stopped", ["code": .integer(Int64(code)), "message": .string(message)])
        }
        return code
    }

    private func summarize() -> Int32 {
        let state = self.state.withLockedValue { $0 }
        let elapsed = self.output.elapsed
        let moved = self.output.board.movedBytes
        let failed = state.failed.isEmpty ? "" : ", \(state.failed.count) failed"
        let leftOut = state.leftOut.isEmpty ? "" : ", \(state.leftOut.count) skipped"
        let rate = moved == 0 ? "" : ", \(ByteCount(Int(Double(moved) / max(0.001, elapsed / .seconds(1)))).text)/s"
        let existing = state.completedBytes - moved
        let resumed = existing > 0 ? " (\(ByteCount(existing).text) already there)" : ""
        self.output.line(
            "\(state.completed.count) file\(state.completed.count == 1 ? "" : "s"), \(ByteCount(state.completedBytes).text)\(resumed) in "
                + "\(TransferLine.seconds(elapsed))\(rate)\(failed)\(leftOut)")
        self.output.event(
            "summary",
            [
                "completed": JSONValue(state.completed.count), "bytes": JSONValue(state.completedBytes), "moved": JSONValue(moved),
                "failed": JSONValue(state.failed.count), "leftOut": JSONValue(state.leftOut.count),
                "seconds": JSONValue(elapsed / .seconds(1)),
            ])
        return state.failed.values.map { TransferFailure.exitCode(for: $0.code) }.min() ?? 0
    }

    // MARK: Connections

    private func sendAll() async throws {
        let patience = self.options.patience
        // The deadline of the attempts to reconnect. Only a connection that has transferred data
        // extends it, so that the attempts end.
        var deadline: ContinuousClock.Instant?
        var movedBytes = -1
        try await FramedClient.withReconnection(
            to: self.options.address.target, configuration: self.configuration, policy: .fixed(.milliseconds(500), stableTime: .zero),
            maximumNetworkWait: patience,
            decide: { failure in
                self.output.update { board, _ in board.forget { _ in true } }
                // The first attempt is not repeated, because the address is probably wrong. An
                // orderly close by the receiver has another code.
                guard failure.wasOpen || deadline != nil, !Task.isCancelled, patience > .zero,
                    TransferFailure.exitCode(for: failure.error) == 69
                else { return .giveUp }
                if failure.wasOpen {
                    let moved = self.output.board.movedBytes
                    if moved > movedBytes { deadline = ContinuousClock.now + patience }
                    movedBytes = max(movedBytes, moved)
                    self.output.note("the connection was lost; reconnecting for \(TransferLine.seconds(patience))")
                    self.output.event("retrying", ["message": .string(ErrorText.line(failure.error))])
                }
                return deadline.map { ContinuousClock.now < $0 } == true ? .retry : .giveUp
            },
            onEvent: { if case .connected(1...) = $0 { self.output.note("reconnected") } }
        ) { connection in
            try await self.announce(connection)
            try await self.send(over: connection)
        }
    }

    private var configuration: FramedClientConfiguration {
        var configuration = FramedClientConfiguration(tls: self.options.trust.tls)
        configuration.connection.fileBytesPerSecond = self.options.bytesPerSecond
        // Detects a dead receiver within half a minute.
        configuration.connection.pingInterval = .seconds(10)
        configuration.connection.pingTimeout = .seconds(15)
        return configuration
    }

    /// Announces the files and waits for the receiver's permission. A server other than `apus
    /// receive` sends no answer. Without a code, the files are then sent nevertheless.
    private func announce(_ connection: FramedConnection) async throws {
        let code = self.options.trust.code
        let (count, bytes) = self.state.withLockedValue { ($0.completed.count, $0.completedBytes) }
        let announcement = TransferControlMessage.send(
            files: max(0, self.files - count), bytes: max(0, self.bytes - bytes), secret: code?.secretText)
        try await connection.send(header: announcement.header)
        let answer = await withTaskGroup(of: TransferControlMessage?.self) { group in
            group.addTask {
                var messages = connection.messages.makeAsyncIterator()
                while let message = try? await messages.next() {
                    if let answer = TransferControlMessage(message.header) { return answer }
                }
                return nil
            }
            group.addTask {
                try? await Task.sleep(for: Self.answerTimeout)
                return nil
            }
            let first = await group.next() ?? nil
            group.cancelAll()
            return first
        }
        try Task.checkCancellation()
        // Check for a refusal before the closure, which often follows it immediately.
        if case .answer(let refusal?) = answer { throw Refusal(message: refusal) }
        if let closure = connection.closure { throw closure.error ?? FramedError(.closed, message: "the receiver closed the connection") }
        self.state.withLockedValue { $0.hasAnswer = true }
        switch answer {
        case .answer: break
        case .send, .end, nil: if code != nil { throw Refusal(message: "the receiver does not support --code") }
        }
    }

    private func send(over connection: FramedConnection) async throws {
        var sending = FileSending { self.handle($0) }
        sending.keepsAttributes = self.options.keepsAttributes
        sending.maximumConcurrentFiles = self.options.maximumConcurrentFiles
        let done = self.state.withLockedValue { $0.completed }
        sending.skips = { done.contains($0) }
        try await connection.send(files: self.paths, sending)
        try await connection.send(header: TransferControlMessage.end.header)
        await connection.close()
    }

    // MARK: Files

    private func handle(_ event: SentFileEvent) {
        let name = PeerText.visible(event.name)
        switch event.kind {
        case .offered: self.output.update { $0.offered(event.name, name: event.name, size: event.size, at: $1) }
        case .began(let offset): self.output.began(event.name, name: event.name, size: event.size, offset: offset)
        case .progress(let done): self.output.progressed(event.name, to: done)
        case .busy:
            self.output.event("busy", ["name": .string(event.name)])
            guard self.state.withLockedValue({ $0.busy.insert(event.name).inserted }) else { return }
            self.output.note(
                "\(name): another connection is sending this file, or the receiver has not detected the loss of an earlier one; waiting")
        case .completed:
            let file = self.output.ended(event.name, isCompleted: true, size: event.size)
            self.state.withLockedValue { state in
                state.completed.insert(event.name)
                state.completedBytes += event.size
                state.failed[event.name] = nil
            }
            self.output.event("completed", ["name": .string(event.name), "size": JSONValue(event.size)])
            let wasComplete = event.size > 0 && file?.offset == event.size
            if self.files <= Self.mostLines || !self.output.hasLine {
                self.output.line("\(name)  \(wasComplete ? "already there" : ByteCount(event.size).text)")
            }
        case .leftOut(let why):
            guard self.state.withLockedValue({ $0.leftOut.insert(event.name).inserted }) else { return }
            let reason = why == .link ? "symbolic link, not followed" : "not a regular file"
            self.output.event("left-out", ["name": .string(event.name), "message": .string(reason)])
            if self.output.style != .quiet { self.output.note("\(name): skipped: \(reason)") }
        case .failed(let error):
            _ = self.output.ended(event.name, isCompleted: false, size: event.size)
            guard self.state.withLockedValue({ $0.failed.updateValue(error, forKey: event.name) }) != error else { return }
            self.output.event(
                "failed", ["name": .string(event.name), "code": .string(error.code.rawValue), "message": .string(error.message)])
            self.output.note("\(name): \(error.message)")
        }
    }
}

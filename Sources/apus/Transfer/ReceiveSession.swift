import ApusBytes
import ApusCommandSupport
import ApusFramedProtocol
import ApusFramedSocket
import ApusJSON
import Foundation
import Logging
import NIOConcurrencyHelpers
import NIOCore

/// A run of `apus receive`: the server, its senders and the exit code.
final class ReceiveSession: Sendable {
    /// The state of the connection of a sender.
    private struct Sender: Sendable {
        var name: String
        /// Whether the sender's code is correct, or no code is required.
        var maySend: Bool
        var startedAt: Duration
        /// Whether the sender has announced the end of its files.
        var hasEnded = false
        var hasAnnounced = false
        var wasInterrupted = false
        var completed = 0
        var failed = 0
        /// The number of bytes received over this connection.
        var movedBytes = 0
    }

    private struct State: Sendable {
        var senders: [ObjectIdentifier: Sender] = [:]
        /// The number of failed files of the sender that ended the run.
        var failures = 0
    }

    /// The maximum number of files of a connection that are printed by name. The summary includes
    /// all files.
    private static let linesOfSender = 20
    /// The time within which a sender must send its code.
    private static let codeTimeout = TimeAmount.seconds(10)

    private let folder: ReceivingFolder
    private let code: TransferCode?
    private let isOnce: Bool
    private let allowsHidden: Bool
    private let output: TransferOutput
    private let state = NIOLockedValueBox(State())
    private let finished = AsyncStream.makeStream(of: Void.self)

    init(folder: ReceivingFolder, code: TransferCode?, isOnce: Bool, allowsHidden: Bool, output: TransferOutput) {
        self.folder = folder
        self.code = code
        self.isOnce = isOnce
        self.allowsHidden = allowsHidden
        self.output = output
    }

    /// Runs the server and returns the exit code.
    func run(at address: ListenAddress, identity: ReceiverIdentity?) async -> Int32 {
        let server = self.server()
        let announce: @Sendable (SocketAddress) -> Void = { self.announce($0, identity: identity) }
        let wasBusy = NIOLockedValueBox(false)
        let line = Task { await self.output.run() }
        let (result, signal) = await TransferInterruption.run(
            onFirst: {
                wasBusy.withLockedValue { $0 = !self.output.board.files.isEmpty }
                // Keep the partial files and report the cancellation to the senders.
                for connection in server.connections { connection.cancelTransfers() }
            },
            onSecond: { self.output.clear() }
        ) {
            try await withThrowingTaskGroup(of: Void.self) { group in
                group.addTask {
                    switch address {
                    case .tcp(let host, let port):
                        try await server.run(host: host, port: port, tls: identity?.tls, onListening: announce)
                    case .unix(let path): try await server.run(unixDomainSocketPath: path, onListening: announce)
                    }
                }
                group.addTask { for await _ in self.finished.stream { return } }
                _ = try await group.next()
                group.cancelAll()
                try await group.waitForAll()
            }
        }
        line.cancel()
        self.output.clear()
        if let signal { return self.isOnce || wasBusy.withLockedValue { $0 } ? signal : 0 }
        if case .failure(let error) = result {
            self.output.note("apus receive: cannot listen on \(address.defaultValueDescription): \(ErrorText.line(error))")
            return 69
        }
        return self.state.withLockedValue { $0.failures } > 0 ? 1 : 0
    }

    private func announce(_ address: SocketAddress, identity: ReceiverIdentity?) {
        let own = TransferAddress.shareable(address)
        var proof = "--plain"
        if let identity { proof = self.code.map { "--code \($0.text)" } ?? "--pin \(identity.fingerprint)" }
        var lines: [String] = []
        if let identity { lines.append("certificate sha256 \(identity.fingerprint)") }
        lines.append("send with: apus send FILE… \(own) \(proof)")
        let isPort = address.port != nil
        lines.append("listening on \(isPort ? TransferAddress.text(address) : own)")
        var members: JSONObject = ["address": .string(own)]
        members["fingerprint"] = (identity?.fingerprint).map(JSONValue.string)
        members["code"] = (self.code?.text).map(JSONValue.string)
        self.output.event("listening", members)
        guard self.output.style != .json else { return }
        // Written without buffering, because a parent process may wait for the last of these lines.
        writeStandardOutput(Data((lines.joined(separator: "\n") + "\n").utf8))
    }

    // MARK: The server

    private func server() -> FramedServer {
        var configuration = FramedServerConfiguration()
        var receiving = FileReceiving(into: self.folder, keepsAttributes: true) { self.handle($0) }
        receiving.recognizesFinished = true
        receiving.allowsHiddenNames = self.allowsHidden
        receiving.refuses = { connection, name, _ in
            let maySend = self.state.withLockedValue { $0.senders[ObjectIdentifier(connection)]?.maySend } ?? (self.code == nil)
            guard maySend else {
                return TransferError(.refused, message: "this receiver requires the code it printed (apus send --code)")
            }
            guard self.allowsHidden || !name.isHidden else {
                return TransferError(
                    .nameRefused,
                    message: "the file name is refused: a component begins with a dot (apus receive --allow-hidden accepts it)")
            }
            return nil
        }
        configuration.connection.receiving = receiving
        configuration.connection.limits.maximumBodyBytes = 1 << 20  // messages are small; files use chunks
        configuration.connection.limits.maximumHeaderBytes = 16 << 10
        configuration.drainTimeout = .seconds(8)
        var logger = Logger(label: "apus.receive") { StreamLogHandler.standardError(label: $0) }
        logger.logLevel = .error
        return FramedServer(configuration: configuration, logger: logger) { try await self.serve($0) }
    }

    private func serve(_ connection: FramedConnection) async throws {
        let id = ObjectIdentifier(connection)
        let address = connection.remoteAddress
        let name = address.flatMap { $0.port == nil ? nil : TransferAddress.text($0) } ?? "a sender on this machine"
        self.state.withLockedValue {
            $0.senders[id] = Sender(name: name, maySend: self.code == nil, startedAt: self.output.elapsed)
        }
        let deadline = connection.eventLoop.scheduleTask(in: Self.codeTimeout) {
            if self.state.withLockedValue({ $0.senders[id]?.maySend }) == false { connection.abort() }
        }
        do {
            for try await message in connection.messages {
                guard try await self.received(TransferControlMessage(message.header), from: connection) else { break }
            }
        } catch {
            // `closed` reports the reason.
        }
        deadline.cancel()
        connection.startClosing()
        self.closed(id, await connection.waitUntilClosed())
    }

    /// Processes a message of the sender.
    ///
    /// - Returns: Whether to continue with the connection.
    private func received(_ message: TransferControlMessage?, from connection: FramedConnection) async throws -> Bool {
        let id = ObjectIdentifier(connection)
        switch message {
        case .send(let files, let bytes, let secret):
            let isRight = self.code.map { $0.accepts(secretText: secret ?? "") } ?? true
            let isAlone = self.state.withLockedValue { state in
                state.senders[id]?.maySend = isRight
                state.senders[id]?.hasAnnounced = true
                return state.senders.values.count { $0.hasAnnounced && $0.maySend } == 1
            }
            guard isRight else {
                let name = self.state.withLockedValue { $0.senders[id]?.name } ?? ""
                self.output.note("\(name): refused: \(secret == nil ? "no code" : "wrong code")")
                let refusal = secret == nil ? "it requires the code it printed; use --code" : "the code is not the one it printed"
                try await connection.send(header: TransferControlMessage.answer(refusal: refusal).header)
                return false
            }
            self.output.update { board, _ in
                if isAlone { board = TransferSummary() }
                board.totalFiles = isAlone ? files : nil
                board.totalBytes = isAlone ? bytes : nil
            }
            try await connection.send(header: TransferControlMessage.answer(refusal: nil).header)
        case .end: self.state.withLockedValue { $0.senders[id]?.hasEnded = true }
        case .answer, nil: break  // unknown messages are ignored
        }
        return true
    }

    private func closed(_ id: ObjectIdentifier, _ closure: FramedClosure) {
        guard let sender = self.state.withLockedValue({ $0.senders.removeValue(forKey: id) }) else { return }
        let elapsed = self.output.elapsed - sender.startedAt
        if sender.completed + sender.failed > 0 {
            let files = "\(sender.completed) file\(sender.completed == 1 ? "" : "s")"
            let failed = sender.failed > 0 ? ", \(sender.failed) failed" : ""
            let speed = ByteCount(Int(Double(sender.movedBytes) / max(0.001, elapsed / .seconds(1)))).text
            let rate = sender.movedBytes == 0 ? "" : " (\(speed)/s)"
            self.output.line(
                "\(sender.name): \(files)\(failed), \(ByteCount(sender.movedBytes).text) in \(TransferLine.seconds(elapsed))\(rate)")
            self.output.event(
                "session",
                [
                    "peer": .string(sender.name), "completed": JSONValue(sender.completed), "failed": JSONValue(sender.failed),
                    "bytes": JSONValue(sender.movedBytes),
                ])
        }
        // A sender that does not announce its files has sent all of them when it closes the
        // connection in order.
        let hasSentAll =
            sender.hasAnnounced ? sender.hasEnded : closure.initiator == .peer && sender.completed > 0 && !sender.wasInterrupted
        guard self.isOnce, hasSentAll else { return }
        self.state.withLockedValue { $0.failures = sender.failed }
        self.finished.continuation.finish()
    }

    // MARK: Files

    private func handle(_ event: ReceivedFileEvent) {
        let key = "\(event.connection)/\(event.stream)"
        let name = event.offeredName.description
        switch event.kind {
        case .began(let offset): self.output.began(key, name: name, size: event.size, offset: offset)
        case .progress(let done): self.output.progressed(key, to: done)
        case .completed(let finalName):
            let file = self.output.ended(key, isCompleted: true, size: event.size)
            let moved = event.size - (file?.offset ?? 0)
            let count = self.state.withLockedValue { state in
                state.senders[event.connection]?.completed += 1
                state.senders[event.connection]?.movedBytes += moved
                return state.senders[event.connection]?.completed ?? 0
            }
            self.output.event("completed", ["name": .string(name), "as": .string(finalName), "size": JSONValue(event.size)])
            guard count <= Self.linesOfSender else { return }
            let alias = finalName == name ? "" : " as \(PeerText.visible(finalName))"
            let size = moved == 0 && event.size > 0 ? "already there" : ByteCount(event.size).text
            self.output.line("\(PeerText.visible(name))\(alias)  \(size)\(count == Self.linesOfSender ? " …" : "")")
        case .failed(let error):
            let file = self.output.ended(key, isCompleted: false, size: event.size)
            self.state.withLockedValue { state in
                state.senders[event.connection]?.failed += 1
                state.senders[event.connection]?.movedBytes += max(0, (file?.done ?? 0) - (file?.offset ?? 0))
                if error.code == .cancelled { state.senders[event.connection]?.wasInterrupted = true }
            }
            self.output.event(
                "failed",
                ["name": .string(name), "code": .string(error.code.rawValue), "message": .string(error.message)])
            let kept = file.map { $0.done > 0 ? "; \(ByteCount($0.done).text) of \(ByteCount($0.size).text) kept for resumption" : "" }
            self.output.note("\(PeerText.visible(name)): \(error.message)\(kept ?? "")")
        }
    }
}

import ApusCommandSupport
import ApusConnectivity
import ApusEngineIOProtocol
import ApusEventLoop
import ApusJSON
import ApusSocketIOClient
import ApusSocketIOProtocol
import Foundation
import NIOConcurrencyHelpers

/// A run of `apus connect`: the socket, the input lines and the exit code.
final class ConnectSession: Sendable {
    /// An input of the main loop. Received events are not inputs, so that they are shown while the
    /// loop waits for an ack.
    private enum Input: Sendable {
        case line(String)
        case endOfInput
        /// The socket will not reconnect; the reason has been printed.
        case ended
    }

    private struct State {
        /// The names of the events to show; `nil` for all events.
        var shown: Set<String>?
        var replies: [String: SocketIOClientListener] = [:]
        var isJoined = false
        /// The failures that were printed since the last connection, so that each is printed once.
        var printed: Set<String> = []
        /// The reason for the last failed attempt before the namespace was joined.
        var failure: String?
        /// The failure of an attempt before the namespace was joined, if further attempts cannot
        /// succeed.
        var finalFailure: SocketIOError?
        /// The reason why there is no connection; `nil` while connected.
        var lost: String?
        /// Whether the socket will not reconnect.
        var hasEnded = false
        /// The closure that cancels the current line's pause or wait for an ack.
        var cancelWait: (@Sendable () -> Void)?
        /// Whether a line has failed.
        var hasFailed = false
    }

    private let url: String
    private let manager: SocketIOManager
    private let socket: SocketIOClient
    private let timeout: Duration
    private let version: ConnectVersion
    private let output = ConnectOutput()
    private let state = NIOLockedValueBox(State())

    init(url: String, manager: SocketIOManager, namespace: String, timeout: Duration, version: ConnectVersion) {
        self.url = url
        self.manager = manager
        self.socket = manager.socket(forNamespace: namespace)
        self.timeout = timeout
        self.version = version
    }

    /// Runs the session and returns the exit code.
    func run() async -> Int32 {
        let (inputs, continuation) = AsyncStream.makeStream(of: Input.self)
        self.watch(continuation)
        do {
            try await self.socket.connect(timeout: self.timeout)
        } catch {
            if let error = self.state.withLockedValue({ $0.finalFailure }) {
                self.output.note("no connection to \(self.url): \(TLSOptions.advice(for: error) ?? ErrorText.line(error))")
                return 69
            }
            self.output.note(self.advice(for: error))
            return (error as? SocketIOError)?.code == .connectRefused ? 77 : 69
        }
        // Read on a separate thread, because reading blocks. The thread ends with the process.
        Thread.detachNewThread {
            while let line = readLine(strippingNewline: true) { continuation.yield(.line(line)) }
            continuation.yield(.endOfInput)
        }
        await self.perform(inputs)
        let code = self.exitCode
        // Send the events that are still queued.
        await self.manager.close()
        return code
    }

    private var exitCode: Int32 {
        let state = self.state.withLockedValue { $0 }
        if state.hasEnded { return 69 }
        // An interactive user has seen the errors. A script needs the exit code.
        guard !self.output.isInteractive else { return 0 }
        return state.lost != nil ? 69 : state.hasFailed ? 1 : 0
    }

    private func perform(_ inputs: AsyncStream<Input>) async {
        var stays = false
        self.output.prompt()
        for await input in inputs {
            let hasEnded = self.state.withLockedValue { $0.hasEnded }
            switch input {
            case .ended: return
            case .endOfInput:
                if hasEnded || !stays { return }
            case .line(let text):
                let line = ConnectLine(text)
                guard !hasEnded else {
                    if line != .nothing, line != .quit { self.output.note("this line and the following ones were not executed: \(text)") }
                    return
                }
                switch line {
                case .quit: return
                case .listen(let events):
                    stays = true
                    self.state.withLockedValue { $0.shown = events.isEmpty ? nil : Set(events) }
                case let line:
                    if !(await self.perform(line)) { self.state.withLockedValue { $0.hasFailed = true } }
                }
                self.output.prompt()
            }
        }
    }

    /// Executes a line.
    ///
    /// - Returns: Whether the line succeeded.
    private func perform(_ line: ConnectLine) async -> Bool {
        switch line {
        case .emit(let event, let arguments):
            guard !Self.isReserved(event) else { return self.fail("\(event) is a reserved event name; choose another") }
            if let lost = self.state.withLockedValue({ $0.lost }) { return self.fail("\(JSONValue.string(event)) was not sent: \(lost)") }
            self.socket.emit(event, arguments: arguments)
        case .ack(let event, let arguments):
            if let lost = self.state.withLockedValue({ $0.lost }) { return self.fail("no ack for \(JSONValue.string(event)): \(lost)") }
            let start = ContinuousClock.now
            do {
                let answer = try await self.untilEnded { [socket, timeout] in
                    try await socket.emitWithAck(event, arguments: arguments, timeout: timeout)
                }
                self.output.ack(event, answer, after: ContinuousClock.now - start)
            } catch {
                let reason = self.reason(error)
                // Pending acks fail before the disconnect event is delivered.
                if (error as? SocketIOError)?.code == .disconnected, self.socket.state != .connected {
                    self.state.withLockedValue { $0.lost = $0.lost ?? "the connection was lost" }
                }
                return self.fail("no ack for \(JSONValue.string(event))\(reason)")
            }
        case .reply(let event, let arguments):
            let listener = self.socket.on(event) { _, ack in ack.with(arguments: arguments) }
            if let old = self.state.withLockedValue({ $0.replies.updateValue(listener, forKey: event) }) { self.socket.off(old) }
        case .wait(let duration): try? await self.untilEnded { try await Task.sleep(for: duration) }
        case .state: self.output.note("\(self.socket.state), namespace \(self.socket.namespace), id \(self.socket.id ?? "none")")
        case .help: self.output.note(ConnectLine.helpText)
        case .mistake(let message): return self.fail(message)
        case .listen, .quit, .nothing: break
        }
        return true
    }

    /// Runs `operation`, and cancels it when the socket ends. An event that is emitted after the
    /// end of the socket remains in the buffer, and its ack would otherwise fail only at the
    /// timeout.
    private func untilEnded<Value: Sendable>(_ operation: @escaping @Sendable () async throws -> Value) async throws -> Value {
        let task = Task { try await operation() }
        let hasEnded = self.state.withLockedValue { state in
            state.cancelWait = { task.cancel() }
            return state.hasEnded
        }
        if hasEnded { task.cancel() }
        return try await task.value
    }

    private func fail(_ message: String) -> Bool {
        self.output.note(message)
        return false
    }

    /// Returns whether an event name is reserved, so that emitting it would fail.
    private static func isReserved(_ event: String) -> Bool {
        ["connect", "connect_error", "disconnect", "disconnecting", "newListener", "removeListener"].contains(event)
    }

    // MARK: Events

    private func watch(_ continuation: AsyncStream<Input>.Continuation) {
        self.socket.onAny { [state = self.state, output = self.output] event, arguments in
            if let shown = state.withLockedValue({ $0.shown }), !shown.contains(event) { return }
            output.event(event, arguments)
            output.prompt()
        }
        self.socket.onLifecycle { [weak self] event in self?.happened(event, continuation) }
    }

    private func happened(_ event: SocketIOClientLifecycleEvent, _ continuation: AsyncStream<Input>.Continuation) {
        switch event {
        case .connect(let id):
            let isNew = self.state.withLockedValue { state in
                defer { (state.isJoined, state.lost, state.printed) = (true, nil, []) }
                return !state.isJoined
            }
            self.output.note("connected \(isNew ? "to \(self.url)" : "again"), namespace \(self.socket.namespace), id \(id)")
        case .disconnect(let reason):
            if reason == .clientDisconnect { return }
            guard reason.permitsReconnect else { return self.ended("the server closed the connection (\(reason))", continuation) }
            self.state.withLockedValue { $0.lost = "the connection was lost (\(reason))" }
            self.output.note("connection lost (\(reason)); reconnecting")
        case .error(let error):
            let isJoined = self.state.withLockedValue { state in
                // These errors mean that an event was not sent.
                if error.code == .bufferFull || error.code == .invalidUse { state.hasFailed = true }
                return state.isJoined
            }
            // Before the namespace is joined, these errors end the run, which prints them.
            if !isJoined, error.code == .connectRefused || error.code == .unsupportedVersion { return }
            guard error.code == .transport else { return self.output.note(error.message) }
            if !isJoined, ErrorText.connectivity(error)?.retryDecision == .giveUp {
                self.state.withLockedValue { $0.finalFailure = error }
                return self.socket.disconnect()
            }
            let reason = ErrorText.line(error)
            let isNew = self.state.withLockedValue { state in
                if !isJoined { state.failure = reason }
                return isJoined && state.printed.insert(reason).inserted
            }
            if isNew { self.output.note("no connection: \(reason)") }
        case .reconnectAttempt:
            // Another attempt follows, so the first failure did not end the run. Print it now.
            let failure = self.state.withLockedValue { state in
                state.failure.flatMap { state.isJoined || !state.printed.insert($0).inserted ? nil : $0 }
            }
            if let failure { self.output.note("no connection to \(self.url): \(failure); retrying for \(self.timeout)") }
        case .reconnectFailed:
            guard self.state.withLockedValue({ $0.isJoined }) else { return }
            self.ended("the connection could not be re-established", continuation)
        case .reconnect, .statusChange, .ping, .pong, .upgrade, .upgradeError: break
        }
    }

    private func ended(_ reason: String, _ continuation: AsyncStream<Input>.Continuation) {
        self.output.note(reason)
        let cancelWait = self.state.withLockedValue { state in
            (state.lost, state.hasEnded) = (reason, true)
            return state.cancelWait
        }
        cancelWait?()
        continuation.yield(.ended)
    }

    // MARK: Error messages

    /// Returns the reason for a missing ack, as the end of a message.
    private func reason(_ error: any Error) -> String {
        if error is CancellationError, let lost = self.state.withLockedValue({ $0.lost }) { return ": \(lost)" }
        guard let error = error as? SocketIOError else { return ": \(ErrorText.line(error))" }
        switch error.code {
        case .ackTimeout:
            return
                " within \(self.timeout); the server may have no handler for the event, or may not acknowledge it (--timeout SECONDS waits longer)"
        case .disconnected: return ": \(error.message)\((error.cause as? EngineIOError).map { " (\($0.message))" } ?? "")"
        default: return ": \(error.message)"
        }
    }

    private func advice(for error: any Error) -> String {
        guard let error = error as? SocketIOError else { return ErrorText.line(error) }
        switch error.code {
        case .connectRefused:
            let data = error.data.map { " \($0)" } ?? ""
            return "the server refused namespace \(self.socket.namespace): \(error.message)\(data); check --namespace and --auth"
        case .unsupportedVersion where self.version == .three:
            return "\(self.url) does not support Engine.IO 3, the protocol of Socket.IO 2.x; use --engineio 4, or omit the option"
        case .unsupportedVersion:
            return "\(self.url) uses Engine.IO 3, the protocol of Socket.IO 2.x; use --engineio 3, or omit the option"
        case .connectTimeout, .transport:
            if let advice = TLSOptions.advice(for: error) { return "no connection to \(self.url): \(advice)" }
            let check = "check that a Socket.IO server is running there with this --path"
            let reason = error.cause == nil ? nil : ErrorText.line(error)
            let isPrinted = self.state.withLockedValue { state in reason.map { state.printed.contains($0) } }
            guard let reason, isPrinted != true else { return "no connection to \(self.url) within \(self.timeout); \(check)" }
            return "no connection to \(self.url): \(reason); \(check)"
        default: return ErrorText.line(error)
        }
    }
}

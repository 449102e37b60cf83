import ApusJSON
import ApusSocketIOClient
import ApusSocketIOProtocol
import Foundation
import NIOConcurrencyHelpers

/// One run of `apus connect`: the socket, the lines, the exit code.
final class ConnectSession: Sendable {
    /// What the main loop waits for. Events do not pass through it: they are shown while it waits for an ack.
    private enum Input: Sendable {
        case line(String)
        case endOfInput
        /// The socket will not come back by itself; the text says why.
        case ended(String)
    }

    private struct State {
        /// Events to show; nil: all.
        var shown: Set<String>?
        var replies: [String: SocketListener] = [:]
        var isJoined = false
    }

    private let url: String
    private let manager: SocketManager
    private let socket: SocketIOClient
    private let timeout: Duration
    private let output = ConnectOutput()
    private let state = NIOLockedValueBox(State())

    init(url: String, manager: SocketManager, namespace: String, timeout: Duration) {
        self.url = url
        self.manager = manager
        self.socket = manager.socket(forNamespace: namespace)
        self.timeout = timeout
    }

    /// Answers the exit code.
    func run() async -> Int32 {
        let (inputs, continuation) = AsyncStream.makeStream(of: Input.self)
        self.watch(continuation)
        do {
            try await self.socket.connect(timeout: self.timeout)
        } catch {
            self.output.note(self.advice(for: error))
            return (error as? SocketIOError)?.code == .connectRefused ? 77 : 69
        }
        // A thread of its own: reading a terminal blocks. It ends with the process.
        Thread.detachNewThread {
            while let line = readLine(strippingNewline: true) { continuation.yield(.line(line)) }
            continuation.yield(.endOfInput)
        }
        let code = await self.perform(inputs)
        // What was emitted last is to arrive.
        await self.manager.close()
        return code
    }

    private func perform(_ inputs: AsyncStream<Input>) async -> Int32 {
        var hasFailed = false
        var stays = false
        self.output.prompt()
        loop: for await input in inputs {
            switch input {
            case .ended(let reason):
                self.output.note(reason)
                return 69
            case .endOfInput:
                if !stays { break loop }
            case .line(let line):
                switch ConnectLine(line) {
                case .quit: break loop
                case .listen(let events):
                    stays = true
                    self.state.withLockedValue { $0.shown = events.isEmpty ? nil : Set(events) }
                case let line:
                    if !(await self.perform(line)) { hasFailed = true }
                }
                self.output.prompt()
            }
        }
        // Who types saw the mistake and typed again; a script did not.
        return hasFailed && !self.output.isInteractive ? 1 : 0
    }

    /// Answers whether it worked.
    private func perform(_ line: ConnectLine) async -> Bool {
        switch line {
        case .emit(let event, let arguments):
            guard !Self.isReserved(event) else { return self.fail("\(event) is a name of the protocol's own; choose another") }
            self.socket.emit(event, arguments: arguments)
        case .ack(let event, let arguments):
            let start = ContinuousClock.now
            do {
                let answer = try await self.socket.emitWithAck(event, arguments: arguments, timeout: self.timeout)
                self.output.ack(event, answer, after: ContinuousClock.now - start)
            } catch {
                return self.fail(self.advice(for: error))
            }
        case .reply(let event, let arguments):
            let listener = self.socket.on(event) { _, ack in ack.with(arguments: arguments) }
            if let old = self.state.withLockedValue({ $0.replies.updateValue(listener, forKey: event) }) { self.socket.off(old) }
        case .wait(let duration): try? await Task.sleep(for: duration)
        case .state: self.output.note("\(self.socket.state), namespace \(self.socket.namespace), id \(self.socket.id ?? "none")")
        case .help: self.output.note(ConnectLine.helpText)
        case .mistake(let message): return self.fail(message)
        case .listen, .quit, .nothing: break
        }
        return true
    }

    private func fail(_ message: String) -> Bool {
        self.output.note(message)
        return false
    }

    /// Emitting these fails; said here, in the line's own words.
    private static func isReserved(_ event: String) -> Bool {
        ["connect", "connect_error", "disconnect", "disconnecting", "newListener", "removeListener"].contains(event)
    }

    // MARK: What arrives

    private func watch(_ continuation: AsyncStream<Input>.Continuation) {
        self.socket.onAny { [state = self.state, output = self.output] event, arguments in
            if let shown = state.withLockedValue({ $0.shown }), !shown.contains(event) { return }
            output.event(event, arguments)
            output.prompt()
        }
        self.socket.onLifecycle { [state = self.state, output = self.output, url = self.url, namespace = self.socket.namespace] event in
            switch event {
            case .connect(let id):
                state.withLockedValue { $0.isJoined = true }
                output.note("connected to \(url), namespace \(namespace), id \(id)")
            case .disconnect(let reason):
                if reason == .clientDisconnect { return }
                if reason.permitsReconnect { return output.note("connection lost (\(reason)); trying again") }
                continuation.yield(.ended("the server closed the connection (\(reason))"))
            case .error(let error):
                // Before the namespace is joined a refusal ends the run, and is told then.
                if !state.withLockedValue({ $0.isJoined }), error.code == .connectRefused { return }
                output.note(error.message)
            case .reconnectFailed: continuation.yield(.ended("the connection could not be made again"))
            case .reconnectAttempt, .reconnect, .statusChange, .ping, .pong, .upgrade, .upgradeError: break
            }
        }
    }

    // MARK: What to do about an error

    private func advice(for error: any Error) -> String {
        guard let error = error as? SocketIOError else { return "\(error)" }
        switch error.code {
        case .connectRefused:
            let data = error.data.map { " \($0)" } ?? ""
            return "the server refused namespace \(self.socket.namespace): \(error.message)\(data); check --namespace and --auth"
        case .connectTimeout, .transport:
            return "no connection to \(self.url): \(error.message); is a Socket.IO server running there, under this --path?"
        case .ackTimeout:
            return "no ack within \(self.timeout); the server may not know the event, or not answer it (--timeout SECONDS waits longer)"
        default: return "\(error)"
        }
    }
}

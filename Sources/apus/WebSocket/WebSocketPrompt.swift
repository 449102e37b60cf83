import ApusCommandSupport
import ApusWebSocket
import ApusWebSocketProtocol
import Foundation
import NIOConcurrencyHelpers
import NIOCore

/// A run of `apus ws URL` over an open connection: the input lines, the received messages and the
/// exit code.
struct WebSocketPrompt: Sendable {
    struct Options: Sendable {
        /// Whether a slash begins a command even if the input is not a terminal.
        var hasCommands: Bool
        /// Whether to stay connected after the end of the input, until the peer closes or a signal
        /// arrives.
        var stays: Bool
        /// The time without received messages after which the connection closes at the end of a
        /// pipe.
        var closeDelay: Duration
        /// The time to wait for a pong.
        var timeout: Duration
    }

    private enum End: Sendable {
        /// The input has ended, or a line closes the connection.
        case leave(code: UInt16, reason: String, hasFailed: Bool)
        case closed
        case signal
    }

    private let connection: WebSocketConnection
    private let options: Options
    private let output: WebSocketOutput
    private let input = WebSocketInput()
    private let lastSent = NIOLockedValueBox<ContinuousClock.Instant?>(nil)
    private let lastReceived = NIOLockedValueBox<ContinuousClock.Instant?>(nil)

    init(connection: WebSocketConnection, options: Options, output: WebSocketOutput) {
        self.connection = connection
        self.options = options
        self.output = output
    }

    /// Runs until the connection is closed and returns the exit code.
    func run() async -> Int32 {
        async let shown: Void = self.show()
        let end = await withTaskGroup(of: End?.self) { group in
            group.addTask { await self.read() }
            group.addTask { [connection = self.connection] in
                _ = await connection.waitUntilClosed()
                return .closed
            }
            group.addTask { await TerminationSignals.wait() ? .signal : nil }
            var end: End?
            while end == nil, let next = await group.next() { end = next }
            if case .leave(let code, let reason, _) = end { self.connection.startClosing(code: .init(rawValue: code), reason: reason) }
            if case .signal = end { self.connection.startClosing(code: .goingAway) }
            _ = await self.connection.waitUntilClosed()
            group.cancelAll()
            return end
        }
        await shown
        let closure = await self.connection.waitUntilClosed()
        self.output.note("\(closure)")
        switch end {
        case .leave(_, _, let hasFailed): return hasFailed && !self.output.isInteractive ? 1 : 0
        case .closed, .signal, nil: return Self.exitCode(closure)
        }
    }

    static func exitCode(_ closure: WebSocketClosure) -> Int32 {
        guard closure.wasClean else { return 69 }
        return [.normalClosure, .goingAway, .noStatusReceived].contains(closure.code) || closure.initiator == .ourselves ? 0 : 1
    }

    // MARK: Output

    private func show() async {
        do {
            for try await message in self.connection.messages {
                self.lastReceived.withLockedValue { $0 = .now }
                let sent = self.lastSent.withLockedValue { $0.take() }
                self.output.message(message, after: sent.map { .now - $0 })
                self.output.prompt()
            }
        } catch {
            // `run` reports the closure.
        }
    }

    // MARK: Input

    private func read() async -> End? {
        var hasFailed = false
        let hasCommands = self.options.hasCommands || self.output.isInteractive
        self.output.prompt()
        for await line in self.input.lines {
            switch WebSocketLine(line, hasCommands: hasCommands) {
            case .quit: return .leave(code: 1000, reason: "", hasFailed: hasFailed)
            case .close(let code, let reason):
                await self.settle()
                return .leave(code: code, reason: reason, hasFailed: hasFailed)
            case let line:
                if !(await self.perform(line)) { hasFailed = true }
            }
            self.input.consumed()
            self.output.prompt()
        }
        if self.options.stays { return nil }
        if !self.output.isInteractive { await self.settle() }
        return .leave(code: 1000, reason: "", hasFailed: hasFailed)
    }

    /// Waits for answers to the sent messages: first for a pong, then until no message has arrived
    /// for `closeDelay`. A pong alone is not sufficient, because many servers send it before
    /// pending answers.
    private func settle() async {
        guard (try? await self.connection.ping(timeout: self.options.timeout)) != nil else { return }
        let start = ContinuousClock.now
        while self.connection.isOpen {
            let quietUntil = max(start, self.lastReceived.withLockedValue { $0 } ?? start) + self.options.closeDelay
            guard quietUntil > .now else { return }
            do { try await Task.sleep(until: quietUntil, clock: .continuous) } catch { return }
        }
    }

    /// Executes a line.
    ///
    /// - Returns: Whether the line succeeded.
    private func perform(_ line: WebSocketLine) async -> Bool {
        switch line {
        case .text(let text): return await self.send(.text(text))
        case .binary(let bytes): return await self.send(.binary(bytes))
        case .file(let path, let isText):
            guard let data = FileManager.default.contents(atPath: path) else { return self.fail("cannot read the file \(path)") }
            guard isText else { return await self.send(.binary(ByteBuffer(bytes: data))) }
            // `String(validating:as:)` requires macOS 15. Decoding replaces only
            // bytes that are not UTF-8.
            let text = String(decoding: data, as: UTF8.self)
            guard text.utf8.elementsEqual(data) else {
                return self.fail("\(path) is not UTF-8; /file sends it as binary")
            }
            return await self.send(.text(text))
        case .ping:
            do { self.output.pong(after: try await self.connection.ping(timeout: self.options.timeout)) } catch {
                return self.fail(ErrorText.line(error))
            }
        case .wait(let duration): try? await Task.sleep(for: duration)
        case .state:
            let latency = self.connection.latency.map { ", latency \(WebSocketOutput.milliseconds($0))" } ?? ""
            self.output.note(
                "\(self.connection.isOpen ? "open" : "closed"), subprotocol \(self.connection.subprotocol ?? "none")\(latency)")
        case .help: self.output.note(WebSocketLine.helpText)
        case .mistake(let message): return self.fail(message)
        case .close, .quit, .nothing: break
        }
        return true
    }

    private func send(_ message: WebSocketMessage) async -> Bool {
        self.lastSent.withLockedValue { $0 = .now }
        do {
            try await self.connection.send(message)
            return true
        } catch {
            return self.fail("not sent: \(ErrorText.line(error))")
        }
    }

    private func fail(_ message: String) -> Bool {
        self.output.note(message)
        return false
    }
}

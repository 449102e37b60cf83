import ApusChatClient
import ApusChatProtocol
import ApusChatTerminal
import ApusCommandSupport
import ApusEventLoop
import ArgumentParser
import Foundation

/// The full-screen mode of `apus chat`: connects the terminal to a ``ChatTerminal``.
enum ChatFullScreen {
    private enum Input: Sendable {
        case bytes([UInt8])
        /// The size of the terminal changed, or the program was continued.
        case changed
        case stop
        case end
    }

    /// Whether standard input and output are a terminal that supports control sequences.
    static var isPossible: Bool { TerminalPrompt.isPossible }

    /// Runs until the user quits.
    @MainActor
    static func run(accounts: ChatAccounts, client: ChatClient, state: ChatConnectionState, opening name: String?) async throws {
        guard let signals = RawTerminal.begin(leaving: ChatTerminal.leaveSequence) else {
            throw ChatClientError(.invalidUse, message: "the mode of the terminal cannot be changed; use --lines")
        }
        let size = RawTerminal.size
        let terminal = ChatTerminal(
            client: client, width: size.columns, height: size.rows, clock: .system, hasColour: ChatOutput.standard.hasColour,
            output: { writeStandardOutput(Data($0.utf8)) }, openFile: Self.openFile)
        let (inputs, continuation) = AsyncStream.makeStream(of: Input.self)
        await terminal.start()
        if let name { await terminal.submit("/open \(name)") }
        terminal.redraw()
        Thread.detachNewThread { Self.listen(signals) { continuation.yield($0) } }
        // End the full-screen mode when the server ends the session.
        let updates = client.updates(bufferingPolicy: .unbounded)
        let watch = Task {
            for await case .connection(.signedOut) in updates { continuation.yield(.end) }
        }
        if case .signedOut = state { continuation.yield(.end) }
        loop: for await input in inputs {
            switch input {
            case .bytes(let bytes): await terminal.receivedInput(bytes)
            case .changed:
                RawTerminal.enter()
                terminal.resized(width: RawTerminal.size.columns, height: RawTerminal.size.rows)
            case .stop: terminal.wantsSuspension = true
            case .end: break loop
            }
            if terminal.hasEnded { break }
            if terminal.wantsSuspension {
                RawTerminal.suspend()
                terminal.resume()
                terminal.resized(width: RawTerminal.size.columns, height: RawTerminal.size.rows)
            }
        }
        watch.cancel()
        await terminal.stop()
        RawTerminal.leave()
        try await Self.finish(terminal, accounts, client)
    }

    /// Closes the client, and prints the final messages after the screen is restored.
    @MainActor
    private static func finish(_ terminal: ChatTerminal, _ accounts: ChatAccounts, _ client: ChatClient) async throws {
        if terminal.hasLoggedOut { return try await accounts.signOut(client) }
        let state = await client.state
        let unsent = await client.unsentCount
        await client.close()
        if case .signedOut(let error) = state {
            ChatOutput.standard.error(
                "the server has ended this session: \(error.message) Start again and sign in with the password")
            throw ExitCode(77)
        }
        guard unsent > 0 else { return }
        ChatOutput.standard.error(
            "\(unsent) message\(unsent == 1 ? " is" : "s are") stored and not sent yet; start again with the same store to send")
        throw ExitCode(75)
    }

    /// Reads the keyboard on a thread that ends with the process.
    private static func listen(_ signals: Int32, _ received: (Input) -> Void) {
        var bytes = [UInt8](repeating: 0, count: 4_096)
        var sources = [
            pollfd(fd: STDIN_FILENO, events: Int16(POLLIN), revents: 0), pollfd(fd: signals, events: Int16(POLLIN), revents: 0),
        ]
        while true {
            guard poll(&sources, nfds_t(sources.count), -1) >= 0 else {
                if errno == EINTR { continue }  // a signal interrupted the call; its number is in the pipe
                return received(.end)
            }
            if sources[1].revents != 0 {
                let count = read(signals, &bytes, bytes.count)
                if count > 0 { received(bytes[..<count].contains(UInt8(SIGTSTP)) ? .stop : .changed) }
            }
            guard sources[0].revents != 0 else { continue }
            var typed: [UInt8] = []
            repeat {
                let count = read(STDIN_FILENO, &bytes, bytes.count)
                if count < 0, errno == EINTR || errno == EAGAIN { continue }
                guard count > 0 else { return received(.end) }
                typed += bytes[..<count]
                // The remaining bytes of a control sequence may follow the escape byte.
            } while typed.last == 0x1b && typed.count < 65_536 && poll(&sources, 1, 30) > 0
            received(.bytes(typed))
        }
    }

    /// Opens a file with the default program for its type, without a shell. Discards the output.
    static func openFile(_ path: String) throws {
        #if os(macOS)
            let program = "open"
        #else
            let program = "xdg-open"
        #endif
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        process.arguments = [program, path]
        process.standardInput = FileHandle.nullDevice
        process.standardOutput = FileHandle.nullDevice
        process.standardError = FileHandle.nullDevice
        do { try process.run() } catch {
            throw ChatClientError(.invalidUse, message: "cannot start \(program): \(error.localizedDescription)")
        }
    }
}

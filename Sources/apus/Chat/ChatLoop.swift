import ApusChatClient
import ApusChatProtocol
import ApusChatTerminal
import ApusEventLoop
import ArgumentParser
import Foundation

/// The line mode of `apus chat`: processes input lines and updates of the client, one at a time.
@MainActor final class ChatLoop {
    private enum Input: Sendable {
        case line(String)
        case endOfInput
        case update(ChatUpdate)
        case waitedEnough
    }

    let accounts: ChatAccounts
    let client: ChatClient
    let output: ChatOutput
    let commander: ChatCommander
    let clock: ChatClock
    private let wait: Duration
    var current: ChatConversation?
    var currentTitle = ""
    var openThread: Int64?
    /// The rows of the open conversation on the screen.
    var screen = ChatRows()
    /// The messages sent from this terminal that the server has not confirmed.
    var typed: Set<ClientID> = []
    /// The confirmed messages of this terminal. Their rows are not printed again.
    var confirmed: Set<ClientID> = []
    /// The ordinal of the newest message in the last known head of each conversation.
    var told: [ConversationID: Int64] = [:]
    var online: Set<UserName> = []
    /// The users who are writing in the open conversation, with the time of the last notification
    /// in milliseconds since 1970.
    var writing: [UserName: Int64] = [:]
    /// The last printed delivery state of own messages, by the position of the message in the log.
    var receipts: [Int64: DeliveryState] = [:]
    var signedOut: String?
    var isOnline = false
    var hasQuit = false
    var hasLoggedOut = false
    private var isLeaving = false
    /// The input lines that wait until the preceding messages are confirmed, because they apply to
    /// the last message.
    private var deferred: [ChatLine] = []

    init(accounts: ChatAccounts, client: ChatClient, output: ChatOutput, wait: Duration) {
        self.accounts = accounts
        self.client = client
        self.output = output
        self.wait = wait
        self.clock = .system
        self.commander = ChatCommander(client: client, clock: .system)
        self.commander.host = self
    }

    /// Runs until `/quit`, `/logout`, the end of the input or the end of the session.
    /// - Returns: The exit code; `nil` means success.
    func run(from state: ChatConnectionState, opening name: String?) async -> ExitCode? {
        let (inputs, continuation) = AsyncStream.makeStream(of: Input.self)
        let updates = self.client.updates(bufferingPolicy: .bufferingNewest(4_096))
        let forward = Task { for await update in updates { continuation.yield(.update(update)) } }
        defer { forward.cancel() }
        if case .signedOut(let reason) = state {
            self.signedOut = reason.message
            return await self.finish()
        }
        self.isOnline = state == .online
        if !self.isOnline {
            self.output.note("Not connected to \(self.client.server) yet. Messages are queued and sent after connecting.", .yellow)
        }
        for head in await self.client.heads { self.told[head.conversation] = head.n }
        for message in (try? await self.client.unsent) ?? [] {
            // Messages that an earlier run queued are reported as sent, like the messages of this
            // run.
            if case .failed = message.delivery { continue }
            if let id = message.event.id { self.typed.insert(id) }
        }
        await self.attempt { try await self.list() }
        await self.tellRequests()
        if let name { await self.perform(.command(ChatCall(.open, [], name))) }
        self.readLines { continuation.yield($0) }
        await self.offerCompletions()
        var timer: Task<Void, Never>?
        defer { timer?.cancel() }
        for await input in inputs {
            switch input {
            case .line(let line):
                let line = ChatLine(line)
                if !self.deferred.isEmpty || self.mustWait(line) {
                    self.deferred.append(line)
                } else {
                    await self.perform(line)
                }
            case .update(let update):
                await self.show(update)
            case .endOfInput:
                self.isLeaving = true
                let wait = self.wait
                timer = Task {
                    try? await Task.sleep(for: wait)
                    continuation.yield(.waitedEnough)
                }
            case .waitedEnough:
                return await self.finish()
            }
            while !self.hasQuit, let next = self.deferred.first, !self.mustWait(next) {
                self.deferred.removeFirst()
                await self.perform(next)
            }
            if self.hasQuit || self.signedOut != nil { return await self.finish() }
            if self.isLeaving, self.typed.isEmpty, self.deferred.isEmpty, await self.client.unsentCount == 0 { return await self.finish() }
            self.output.prompt(self.promptText)
            await self.offerCompletions()
        }
        return nil
    }

    /// Reads lines on a separate thread, because reading blocks. The thread ends with the process.
    private func readLines(_ received: @escaping @Sendable (Input) -> Void) {
        let isEditing = self.output.typing?.start(prompt: self.promptText) { input in
            switch input {
            case .line(let line): received(.line(line))
            case .end: received(.endOfInput)
            }
        }
        guard isEditing != true else { return }
        self.output.prompt(self.promptText)
        Thread.detachNewThread {
            while let line = readLine(strippingNewline: true) { received(.line(line)) }
            received(.endOfInput)
        }
    }

    private func mustWait(_ line: ChatLine) -> Bool {
        guard case .command(let call) = line, call.concernsLastMessage else { return false }
        return self.isOnline && !self.typed.isEmpty
    }

    private var promptText: String {
        guard self.current != nil else { return "> " }
        return "\(self.currentTitle)\(self.openThread.map { " ⤷#\($0)" } ?? "")> "
    }

    /// Removes the prompt, reports unsent messages and returns the exit code.
    private func finish() async -> ExitCode? {
        self.output.typing?.stop()
        self.output.prompt("")
        await self.current?.didClose()
        if let signedOut {
            self.output.error("the server has ended this session: \(signedOut) Start again and sign in with the password")
            return ExitCode(77)
        }
        guard !self.hasLoggedOut else { return nil }
        let unsent = await self.client.unsentCount
        guard unsent > 0 else { return nil }
        self.output.error(
            "\(unsent) message\(unsent == 1 ? " is" : "s are") stored and not sent yet; start again with the same store to send")
        return ExitCode(75)
    }

    // MARK: Input

    private func perform(_ line: ChatLine) async {
        guard case .command(let call) = line else { return await self.commander.perform(line) }
        switch call.name {
        case .quit: self.hasQuit = true
        case .help: for line in ChatCommandName.helpLines { self.output.line(line) }
        case .chats: await self.attempt { try await self.list(call.words) }
        case .history: await self.attempt { try await self.history() }
        case .logout:
            await self.attempt {
                try await self.accounts.signOut(self.client)
                (self.hasQuit, self.hasLoggedOut) = (true, true)
            }
        default: await self.commander.perform(line)
        }
    }

    private func attempt(_ body: () async throws -> Void) async {
        do { try await body() } catch {
            self.output.note(ChatText.reason(error, self.clock), .red)
        }
    }

    /// Sets the completions of the Tab key: the commands, the names of members after `@`, and the
    /// names and titles after `/open`.
    private func offerCompletions() async {
        guard let typing = self.output.typing else { return }
        typing.complete(await self.commander.completions())
    }
}

extension ChatLoop: ChatCommandHost {
    var conversation: ChatConversation? { self.current }
    var shownRows: [ChatMessage] { self.screen.all }
    var selectedSeq: Int64? { nil }

    func say(_ line: ChatSaid) {
        let style: ChatOutput.Style =
            switch line.style {
            case .plain: .plain
            case .bold: .bold
            case .dim: .dim
            case .accent: .cyan
            case .good: .green
            case .warning: .red
            }
        self.output.note(line.text, style)
    }

    func sent(_ message: ChatMessage) {
        if let id = message.event.id { self.typed.insert(id) }
    }

    func openFile(_ path: String) throws { try ChatFullScreen.openFile(path) }
}

import ApusChatClient
import ApusChatProtocol
import ArgumentParser
import Foundation

/// The main loop of `apus chat`: processes input lines and updates of the client, one at a time.
@MainActor final class ChatLoop {
    private enum Input: Sendable {
        case line(String)
        case endOfInput
        case update(ChatUpdate)
        case waitedEnough
    }

    /// An entry of `/requests`.
    enum Request: Equatable {
        case contact(UserName)
        case invitation(ConversationID, title: String)
    }

    let accounts: ChatAccounts
    let client: ChatClient
    let output: ChatOutput
    private let wait: Duration
    var current: ChatConversation?
    var currentTitle = ""
    /// The rows of the open conversation on the screen.
    var screen = ChatRows()
    /// The messages sent from this terminal that the server has not confirmed.
    var typed: Set<ClientID> = []
    /// Confirmed messages of this terminal, whose rows are not printed again.
    var confirmed: Set<ClientID> = []
    /// The conversations of the last `/chats`, which `/open` accepts by number.
    var listed: [ConversationID] = []
    /// The requests of the last `/requests`, which `/accept` accepts by number.
    var requests: [Request] = []
    /// The newest message of each conversation that was told, by its ordinal.
    var told: [ConversationID: Int64] = [:]
    var online: Set<UserName> = []
    /// Members of the open conversation, for mentions; empty until they are needed.
    var members: [UserName] = []
    var signedOut: String?
    var isOnline = false
    var hasQuit = false
    var hasLoggedOut = false
    private var isLeaving = false
    /// Lines that wait until the messages before them are confirmed, because they concern the last
    /// message.
    private var deferred: [ChatLine] = []

    init(accounts: ChatAccounts, client: ChatClient, output: ChatOutput, wait: Duration) {
        self.accounts = accounts
        self.client = client
        self.output = output
        self.wait = wait
    }

    /// Waits until a client is connected or signed out.
    /// - Returns: The state; nil if the time is over before.
    static func firstState(of client: ChatClient, within wait: Duration) async -> ChatConnectionState? {
        let updates = client.updates
        switch await client.state {
        case .online, .signedOut, .closed: return await client.state
        case .connecting, .syncing: break
        }
        return await withTaskGroup(of: ChatConnectionState?.self) { group in
            group.addTask {
                for await case .connection(let state) in updates {
                    switch state {
                    case .online, .signedOut, .closed: return state
                    case .connecting, .syncing: continue
                    }
                }
                return nil
            }
            group.addTask {
                try? await Task.sleep(for: wait)
                return nil
            }
            let first = await group.next() ?? nil
            group.cancelAll()
            return first
        }
    }

    /// Runs until /quit or the end of the input.
    /// - Returns: The exit code; `nil` means success.
    func run(from state: ChatConnectionState, opening name: String?) async -> ExitCode? {
        let (inputs, continuation) = AsyncStream.makeStream(of: Input.self)
        let updates = self.client.updates
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
            // Written in an earlier run: told as sent like those of this one.
            if case .failed = message.delivery { continue }
            if let id = message.event.id { self.typed.insert(id) }
        }
        await self.perform(.list)
        await self.tellRequests()
        if let name { await self.perform(.open(name)) }
        self.readLines { continuation.yield($0) }
        await self.offerCompletions()
        var timer: Task<Void, Never>?
        defer { timer?.cancel() }
        for await input in inputs {
            switch input {
            case .line(let line):
                let line = ChatLine(line)
                if !self.deferred.isEmpty || line.concernsLastMessage && self.awaitsConfirmation {
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
            while !self.hasQuit, let next = self.deferred.first, !(next.concernsLastMessage && self.awaitsConfirmation) {
                self.deferred.removeFirst()
                await self.perform(next)
            }
            if self.hasQuit || self.signedOut != nil { return await self.finish() }
            if self.isLeaving, self.typed.isEmpty, self.deferred.isEmpty, await self.unsentCount == 0 { return await self.finish() }
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

    private var awaitsConfirmation: Bool { self.isOnline && !self.typed.isEmpty }

    private var promptText: String { self.current == nil ? "> " : "\(self.currentTitle)> " }

    /// The number of messages that wait for the server. Refused ones do not.
    private var unsentCount: Int {
        get async {
            let unsent = (try? await self.client.unsent) ?? []
            return unsent.count { message in if case .failed = message.delivery { false } else { true } }
        }
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
        let unsent = await self.unsentCount
        guard unsent > 0 else { return nil }
        self.output.error(
            "\(unsent) message\(unsent == 1 ? " is" : "s are") stored and not sent yet; start again with the same store to send")
        return ExitCode(75)
    }

    // MARK: Input

    private func perform(_ line: ChatLine) async {
        do {
            switch line {
            case .nothing: break
            case .mistake(let words): self.output.note(words, .red)
            case .help: self.output.line(ChatLine.helpText)
            case .quit: self.hasQuit = true
            case .logout:
                try await self.accounts.signOut(self.client)
                self.hasQuit = true
                self.hasLoggedOut = true
            case .list: await self.list()
            case .open(let name): try await self.open(name)
            case .search(let words): try await self.search(words)
            case .users, .new, .members, .add, .remove, .leave, .requests, .answer, .contact, .block, .mute:
                try await self.performAboutPeople(line)
            default: try await self.performAboutMessages(line)
            }
        } catch {
            self.output.note((error as? ChatClientError)?.message ?? "\(error)", .red)
        }
    }

    /// The open conversation.
    func opened() throws(ChatClientError) -> ChatConversation {
        guard let current else { throw ChatClientError(.badInput, message: "Open a conversation first: /open NAME") }
        return current
    }
}

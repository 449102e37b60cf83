import ApusChatClient
import ApusChatProtocol
import ArgumentParser
import Foundation

/// The main loop of `apus chat`: processes input lines and changes from the server, one at a time.
@MainActor final class ChatLoop {
    private enum Input: Sendable {
        case line(String)
        case endOfInput
        case change(ChatChange)
        case waitedEnough
    }

    let client: ChatClient
    let output: ChatOutput
    private let wait: Duration
    var current: ChatConversation?
    var currentName = ""
    /// The messages sent from this terminal, which are not printed a second time when the server
    /// confirms them.
    private var typed: Set<ClientID> = []
    private var listed: [ChatConversationInfo] = []
    private var isLeaving = false
    private var signedOut: String?
    private var isOnline = false
    /// The sequence number of the last event of the open conversation on the screen. The stream of
    /// changes repeats events that the history has shown.
    var shown: Int64 = 0
    /// The number of the message up to which the open conversation counts as read: no unread
    /// message before it was left out.
    var shownThrough: Int64 = 0
    /// The number of the last read message when the conversation was opened; `nil` once the first
    /// unread message is shown.
    var lastReadNumber: Int64?
    /// The next page of users, which `/more` shows.
    var morePeople: (query: String?, after: String)?

    init(client: ChatClient, output: ChatOutput, wait: Duration) {
        self.client = client
        self.output = output
        self.wait = wait
    }

    /// Runs until /quit or the end of the input.
    /// - Returns: The exit code; `nil` means success.
    func run(opening name: String?) async -> ExitCode? {
        let (inputs, continuation) = AsyncStream.makeStream(of: Input.self)
        let changes = self.client.changes
        let forward = Task { for await change in changes { continuation.yield(.change(change)) } }
        defer { forward.cancel() }
        await self.waitForServer()
        guard self.signedOut == nil else { return await self.finish() }
        if !self.isOnline {
            self.output.line(
                self.output.styled(
                    "Not connected to \(self.client.session.server) yet. Messages are queued and sent after connecting.", .yellow))
        }
        await self.perform(.list)
        if let name { await self.perform(.open(name)) }
        self.readLines { continuation.yield($0) }
        var timer: Task<Void, Never>?
        defer { timer?.cancel() }
        for await input in inputs {
            switch input {
            case .line(let line):
                await self.perform(ChatLine(line))
            case .change(let change):
                await self.show(change)
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
            if self.hasQuit || self.signedOut != nil { return await self.finish() }
            if self.isLeaving, self.typed.isEmpty, await self.client.unsentCount == 0 { return await self.finish() }
            self.output.prompt(self.promptText)
        }
        return nil
    }

    var hasQuit = false

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

    private var promptText: String { self.current == nil ? "> " : "\(self.currentName)> " }

    private func waitForServer() async {
        let changes = self.client.changes
        switch await self.client.state {
        case .online: self.isOnline = true
        case .signedOut(let reason): self.signedOut = reason
        case .connecting, .synchronizing, .closed: break
        }
        guard !self.isOnline, self.signedOut == nil else { return }
        let wait = self.wait
        let state = await withTaskGroup(of: ChatConnectionState?.self) { group in
            group.addTask {
                for await case .connection(let state) in changes {
                    switch state {
                    case .online, .signedOut, .closed: return state
                    case .connecting, .synchronizing: continue
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
        self.isOnline = state == .online
        if case .signedOut(let reason) = state { self.signedOut = reason }
    }

    /// Removes the prompt, reports unsent messages and returns the exit code.
    private func finish() async -> ExitCode? {
        self.output.typing?.stop()
        self.output.prompt("")
        if let signedOut {
            self.output.error("the server has ended this session: \(signedOut). Start again and log in with the password")
            return ExitCode(77)
        }
        let unsent = await self.client.unsentCount
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
            case .mistake(let words): self.output.line(self.output.styled(words, .red))
            case .help: self.output.line(ChatLine.helpText)
            case .quit: self.hasQuit = true
            case .list: try await self.list()
            case .open(let name): try await self.open(name)
            case .users(let query): try await self.users(query, after: nil)
            case .more:
                guard let page = self.morePeople else {
                    throw ChatClientError(.badInput, message: "there are no more users; /users starts a new list")
                }
                try await self.users(page.query, after: page.after)
            case .new(let title, let names): try await self.new(title, names)
            case .history: try await self.history()
            case .image(let path, let caption): try await self.image(path, caption)
            case .text(let text):
                guard let current else { return self.output.line(self.output.styled("Open a conversation first: /open NAME", .red)) }
                self.typed.insert(try await current.send(text).id)
            case .logout:
                try await self.client.logout()
                self.hasQuit = true
            }
        } catch {
            self.output.line(self.output.styled("\((error as? ChatClientError)?.message ?? "\(error)")", .red))
        }
    }

    private func list() async throws {
        self.listed = try await self.client.conversations
        if self.listed.isEmpty { self.output.line("No conversations yet. /users lists users, /open NAME starts a conversation.") }
        for (index, info) in self.listed.enumerated() {
            let unread = info.unread > 0 ? self.output.styled(" (\(info.unread) new)", .yellow) : ""
            let last = info.last.map { "  " + ChatText.summary(of: $0) } ?? ""
            self.output.line(
                "\(index + 1). \(self.output.styled(ChatOutput.harmless(info.name), .bold))\(unread)\(self.output.styled(last, .dim))")
        }
    }

    private func open(_ name: String) async throws {
        let all = try await self.client.conversations
        let conversation: ChatConversation
        if let number = Int(name), self.listed.indices.contains(number - 1) {
            conversation = try await self.client.conversation(self.listed[number - 1].id)
        } else if let known = all.first(where: { $0.name.lowercased() == name.lowercased() || $0.title == name }) {
            conversation = try await self.client.conversation(known.id)
        } else {
            conversation = try await self.conversation(with: name)
        }
        self.current = conversation
        self.currentName = ChatOutput.harmless(try await conversation.info.name)
        self.output.line(self.output.styled("— \(self.currentName) —", .bold))
        self.shown = 0
        try await self.showNewest(of: conversation)
    }

    private func history() async throws {
        guard let current else { throw ChatClientError(.badInput, message: "open a conversation first: /open NAME") }
        let count = try await current.loadEarlier()
        for item in try await current.history(limit: 200) { await self.show(item) }
        await self.markShown()
        if count == 0 { self.output.line(self.output.styled("There are no earlier messages.", .dim)) }
    }

    private func image(_ path: String, _ caption: String?) async throws {
        guard let current else { throw ChatClientError(.badInput, message: "open a conversation first: /open NAME") }
        let expanded = (path as NSString).expandingTildeInPath
        guard let data = FileManager.default.contents(atPath: expanded) else {
            throw ChatClientError(.notFound, message: "cannot read \(path)")
        }
        self.typed.insert(try await current.send(image: [UInt8](data), caption: caption).id)
    }

    // MARK: Changes

    private func show(_ change: ChatChange) async {
        switch change {
        case .connection(let state): self.show(state)
        case .event(let message): await self.show(arrived: message)
        case .outgoing(let message) where message.delivery == .refused:
            self.typed.remove(message.id)
            self.output.line(self.output.styled("✗ not sent: \(message.refusal ?? "refused")  (\(ChatText.summary(of: message)))", .red))
        case .gap(let id, _) where id == self.current?.id:
            self.output.line(self.output.styled("… some messages are not loaded; /history loads them", .yellow))
        case .presence(let user):
            self.output.line(self.output.styled("\(user.name) is \(user.online ? "online" : "away")", .dim))
        case .storeFailed(let error): self.output.error(error.message)
        case .conversation, .outgoing, .gap, .mark: break
        }
    }

    private func show(_ state: ChatConnectionState) {
        switch state {
        case .connecting where self.isOnline:
            self.isOnline = false
            self.output.line(self.output.styled("Connection lost; reconnecting. Messages are queued and sent after reconnecting.", .yellow))
        case .online where !self.isOnline:
            self.isOnline = true
            self.output.line(self.output.styled("Connected.", .green))
        case .signedOut(let reason): self.signedOut = reason
        case .connecting, .synchronizing, .online, .closed: break
        }
    }

    private func show(arrived message: ChatMessage) async {
        let wasTyped = self.typed.remove(message.id) != nil
        guard message.conversation == self.current?.id else {
            guard message.sender != self.client.session.user.id, message.number != nil, self.isOnline else { return }
            let name = (try? await self.client.conversation(message.conversation).info.name) ?? "?"
            return self.output.line(self.output.styled("[\(ChatOutput.harmless(name))] ", .cyan) + ChatText.summary(of: message))
        }
        guard let seq = message.seq, seq > self.shown else { return }
        self.shown = seq
        if wasTyped {
            // On a terminal the text is already visible as the input line.
            self.output.line(self.output.styled(self.output.isTerminal ? "✓ sent" : "✓ sent: \(ChatText.summary(of: message))", .dim))
            self.noteShown(message.number)
        } else {
            self.announceUnread(message)
            await self.show(.message(message))
        }
        await self.markShown()
    }

    func show(_ item: ChatHistoryItem) async {
        switch item {
        case .gap: self.output.line(self.output.styled("… some messages are not loaded; /history loads them", .yellow))
        case .message(let message):
            self.shown = max(self.shown, message.seq ?? 0)
            self.noteShown(message.number)
            let isMine = message.sender == self.client.session.user.id
            let name = isMine ? "you" : await self.client.user(message.sender)?.name ?? message.sender.rawValue
            let mark = isMine ? self.output.styled("  " + ChatText.mark(for: message.delivery), .dim) : ""
            let time = self.output.styled(ChatText.time(message.at), .dim)
            self.output.line("\(time) \(self.output.styled(name, isMine ? .plain : .cyan)): \(ChatText.content(of: message))\(mark)")
        }
    }
}

package import ApusChatClient
import ApusChatProtocol
import ApusEventLoop
import Observation

/// The full-screen chat: connects the models of a client, the keys, the commands and the
/// ``ChatScreen``. The program provides the input bytes and the size of the terminal, and writes
/// the output.
@MainActor
package final class ChatTerminal {
    package var screen: ChatScreen
    package internal(set) var hasEnded = false
    /// Whether the user requested to end the session and remove the store.
    package private(set) var hasLoggedOut = false
    /// Whether the user requested to suspend the program.
    package var wantsSuspension = false
    package let client: ChatClient
    package let commander: ChatCommander
    let list: ConversationListModel
    var thread: ThreadModel?
    /// The `seq` of the message that began the open thread; nil if no thread is open.
    package var openThread: Int64?
    var threadRows: [ChatMessage] = []
    let clock: ChatClock
    private let output: (String) -> Void
    private let hasColour: Bool
    private let open: (String) throws -> Void
    private var keys = KeyReader()
    private var shown: ScreenFrame?
    var names: [UserName: String] = [:]
    var wanted: Set<UserName> = []
    /// The messages that rows quote and that are not among the rows, by their `seq`.
    var quotes: [Int64: ChatMessage] = [:]
    var wantedQuotes: Set<Int64> = []
    var askedQuotes: Set<Int64> = []
    /// The number of the user's scheduled messages in the open conversation.
    var scheduled = 0
    private var isDrawing = false
    /// The output of the current command so far.
    private var said: [ChatSaid] = []
    /// The text of the status line until the next key: the output of a command, or an event such as
    /// a contact request.
    package internal(set) var notice: (text: String, isWarning: Bool)?
    private var lastTyping: Int64 = 0
    /// The command that is performed when the user enters it a second time. Another line, and
    /// another conversation, reset it.
    var unconfirmed: String?
    private var updates: Task<Void, Never>?

    /// - Parameters:
    ///   - output: Writes to the terminal.
    ///   - openFile: Opens a file with the default program for its type.
    package init(
        client: ChatClient, width: Int, height: Int, clock: ChatClock, hasColour: Bool = true, output: @escaping (String) -> Void,
        openFile: @escaping (String) throws -> Void = { _ in }
    ) {
        self.client = client
        self.commander = ChatCommander(client: client, clock: clock)
        self.list = ConversationListModel(client: client)
        self.screen = ChatScreen(width: width, height: height)
        self.clock = clock
        self.hasColour = hasColour
        self.output = output
        self.open = openFile
        self.commander.host = self
    }

    /// Enters the alternate screen, disables automatic line wrapping, and enables bracketed paste.
    package static let enterSequence = "\u{1B}[?1049h\u{1B}[?7l\u{1B}[?2004h\u{1B}[2J"
    /// Leaves the alternate screen.
    package static let leaveSequence = "\u{1B}[?2026l\u{1B}[0m\u{1B}[?2004l\u{1B}[?7h\u{1B}[?25h\u{1B}[?1049l"

    /// Shows the list of conversations and follows the updates of the client.
    package func start() async {
        self.output(Self.enterSequence)
        await self.list.start()
        let updates = self.client.updates(bufferingPolicy: .bufferingNewest(4_096))
        self.updates = Task { [weak self] in
            for await update in updates { await self?.take(update) }
        }
        self.screen.editor.completions = await self.commander.completions()
        if let pending = try? await self.commander.pendingRequests(), !pending.isEmpty { self.tellRequests(pending.count) }
        self.draw()
    }

    /// Stores the draft of the open conversation and restores the terminal.
    package func stop() async {
        self.updates?.cancel()
        await self.leaveConversation()
        self.output(Self.leaveSequence)
    }

    package func resized(width: Int, height: Int) {
        self.screen.resize(width: width, height: height)
        self.redraw()
    }

    /// Redraws the whole screen after another program wrote to the terminal.
    package func redraw() {
        self.shown = nil
        self.draw()
    }

    /// Enters the full screen again after a suspension of the program.
    package func resume() {
        self.wantsSuspension = false
        self.output(Self.enterSequence)
        self.redraw()
    }

    /// Handles bytes of the keyboard. A single escape byte at the end is the Escape key.
    package func receivedInput(_ bytes: [UInt8]) async {
        for key in self.keys.read(bytes) + self.keys.flush() {
            self.notice = nil
            for action in self.screen.handle(key) { await self.perform(action) }
            if self.hasEnded { return }
        }
        self.draw()
    }

    // MARK: Actions

    private func perform(_ action: ScreenAction) async {
        switch action {
        case .quit: self.hasEnded = true
        case .suspend: self.wantsSuspension = true
        case .redraw: self.shown = nil
        case .open(let text):
            guard let id = ConversationID(text) else { break }
            await self.attempt { try await self.show(self.client.conversation(id)) }
        case .submit(let line): await self.submit(line)
        case .typing: await self.tellTyping()
        case .loadEarlier: await self.thread?.loadEarlier()
        case .loadLater: await self.thread?.loadLater()
        case .toEnd: await self.toEnd()
        case .leaveThread: await self.attempt { try await self.showThread(nil) }
        }
    }

    /// Performs a line as if the user had submitted it.
    package func submit(_ line: String) async {
        self.said = []
        let parsed = ChatLine(line)
        switch parsed {
        case .text:
            self.unconfirmed = nil
            await self.commander.perform(parsed)
            await self.toEnd()
        case .command(let call): await self.perform(call, line)
        case .nothing, .mistake:
            self.unconfirmed = nil
            await self.commander.perform(parsed)
        }
        self.lastTyping = 0
        self.screen.unmark()
        self.tellSaid(title: line)
        self.screen.editor.completions = await self.commander.completions()
    }

    private func perform(_ call: ChatCall, _ line: String) async {
        let isConfirmed = self.unconfirmed == line
        self.unconfirmed = nil
        if !isConfirmed, let question = self.question(before: call) {
            self.unconfirmed = line
            return self.say(ChatSaid(text: "\(question) Enter \(line) again to confirm.", style: .warning))
        }
        switch call.name {
        case .quit: self.hasEnded = true
        case .logout: (self.hasEnded, self.hasLoggedOut) = (true, true)
        case .help: self.screen.panel = ChatScreen.help
        case .chats: await self.attempt { try await self.listConversations(call.words) }
        case .history: await self.thread?.loadEarlier()
        case .open:
            guard let (id, seq) = Self.place(call.words) else { return await self.commander.perform(.command(call)) }
            await self.attempt {
                try await self.show(self.client.conversation(id))
                try await self.jump(to: seq)
            }
        case .schedule, .unschedule:
            await self.commander.perform(.command(call))
            self.countScheduled()
        default: await self.commander.perform(.command(call))
        }
    }

    /// Parses the identifier of a search result: the conversation and the `seq` of the message.
    /// Returns nil for other text, such as a title with a slash.
    private static func place(_ words: String) -> (ConversationID, Int64)? {
        let parts = words.split(separator: "/", omittingEmptySubsequences: false).map(String.init)
        guard parts.count == 2, let id = ConversationID(parts[0]), let seq = Int64(parts[1]) else { return nil }
        return (id, seq)
    }

    /// Returns the effect of `/logout`, `/leave` or `/delete`, for a confirmation; nil for other
    /// commands.
    private func question(before call: ChatCall) -> String? {
        let title = self.thread?.head.map { self.title(of: $0) }
        switch (call.name, title) {
        case (.logout, _): return "This ends the session and removes the messages from this device."
        case (.leave, let title?): return "This leaves \(title)."
        case (.delete, let title?):
            return call.words == "all" ? "This deletes \(title) for all members." : "This removes \(title) from your list."
        default: return nil
        }
    }

    private func listConversations(_ folder: String) async throws {
        let isShown = Set(try await self.commander.chats(in: folder).map(\.conversation))
        // The archived conversations of a folder, which the list model does not contain, follow the
        // others.
        var heads = self.list.conversations.filter { isShown.contains($0.conversation) }
        let known = Set(heads.map(\.conversation))
        heads += await self.client.heads.filter { isShown.contains($0.conversation) && !known.contains($0.conversation) }
        self.commander.listed = heads.map(\.conversation)
        if heads.isEmpty { self.say(.init(text: "No conversations.", style: .dim)) }
        for (index, head) in heads.enumerated() {
            let unread = head.unread > 0 ? " (\(head.unread) new)" : ""
            self.say(.init(text: "\(index + 1). \(self.title(of: head))\(unread)", style: .plain, command: "/open \(index + 1)"))
        }
    }

    func attempt(_ body: () async throws -> Void) async {
        do { try await body() } catch {
            self.notice = (ChatText.reason(error, self.clock), true)
        }
    }

    /// Shows the output of a command: a single line in the status line if it fits and cannot be
    /// selected, and other output as a panel.
    private func tellSaid(title: String) {
        defer { self.said = [] }
        guard let first = self.said.first else { return }
        if self.said.count == 1, first.command == nil, TerminalText.width(first.text) <= self.screen.noticeWidth {
            self.notice = (first.text, first.style == .warning)
            return
        }
        self.screen.panel = ScreenPanel(
            title: title, lines: self.said.map { ScreenPanel.Line($0.text, Self.style($0.style), command: $0.command) })
    }

    private static func style(_ style: ChatSaid.Style) -> ScreenStyle {
        switch style {
        case .plain: .normal
        case .bold: .bold
        case .dim: .dim
        case .accent: .accent
        case .good: .good
        case .warning: .warning
        }
    }

    private func tellTyping() async {
        guard let thread = self.thread, self.clock.now() - self.lastTyping >= 3_000 else { return }
        self.lastTyping = self.clock.now()
        await thread.conversation.setTyping(true)
    }

    private func tellRequests(_ count: Int) {
        self.notice = ("✉ \(count) request\(count == 1 ? " waits" : "s wait") for an answer; /requests", false)
    }

    // MARK: Drawing

    func draw() {
        let frame = withObservationTracking {
            self.fill()
            return self.screen.frame()
        } onChange: {
            Task { @MainActor [weak self] in self?.changed() }
        }
        if frame != self.shown {
            self.output(frame.output(after: self.shown, hasColour: self.hasColour))
            self.shown = frame
        }
        self.requestNames()
        self.requestQuotes()
        self.markVisible()
    }

    /// Schedules a redraw. Several changes before the redraw cause only one redraw.
    func changed() {
        guard !self.isDrawing, !self.hasEnded else { return }
        self.isDrawing = true
        Task { @MainActor [weak self] in
            self?.isDrawing = false
            if self?.wantsSuspension == false { self?.draw() }
        }
    }

    /// Marks the messages on the screen as read.
    private func markVisible() {
        guard let index = self.screen.lastVisible, self.openThread == nil, let thread = self.thread else { return }
        let rows = thread.rows
        guard rows.indices.contains(index) else { return }
        guard let last = rows[...index].last(where: { !$0.isOwn && $0.event.n != nil }) else { return }
        Task { await thread.didShow(last) }
    }
}

extension ChatTerminal: ChatCommandHost {
    package var conversation: ChatConversation? { self.thread?.conversation }
    package var selectedSeq: Int64? { self.screen.markedSeq }
    package var shownRows: [ChatMessage] { self.openThread == nil ? self.thread?.rows ?? [] : self.threadRows }

    package func say(_ line: ChatSaid) { self.said.append(line) }

    package func openFile(_ path: String) throws { try self.open(path) }

    package func sent(_ message: ChatMessage) {}
}

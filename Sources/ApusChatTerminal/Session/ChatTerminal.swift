package import ApusChatClient
import ApusChatProtocol
import Observation

/// The chat on a full screen: joins the models of a client, the keys and the ``ChatScreen``. The
/// program gives it bytes and sizes, and writes what it outputs.
@MainActor
package final class ChatTerminal {
    package private(set) var screen: ChatScreen
    package private(set) var hasEnded = false
    let client: ChatClient
    let list: ConversationListModel
    private(set) var thread: ThreadModel?
    private let output: (String) -> Void
    private let time: (Int64) -> String
    private var keys = KeyReader()
    private var shown: ScreenFrame?
    private var names: [UserName: String] = [:]
    private var wanted: Set<UserName> = []
    private var isDrawing = false
    /// What the last command told, until the next key.
    private var notice: String?
    /// The messages of a search, which are shown in place of the thread until the next key.
    private var hits: [ChatSearchHit]?

    /// - Parameters:
    ///   - output: Writes to the terminal.
    ///   - time: Returns the time of day of milliseconds since 1970.
    package init(client: ChatClient, width: Int, height: Int, output: @escaping (String) -> Void, time: @escaping (Int64) -> String) {
        self.client = client
        self.list = ConversationListModel(client: client)
        self.screen = ChatScreen(width: width, height: height)
        self.output = output
        self.time = time
    }

    /// Shows the list and follows the client.
    package func start() async {
        // The other screen, pasted text marked, and later back.
        self.output("\u{1B}[?1049h\u{1B}[?2004h")
        await self.list.start()
        self.draw()
    }

    /// Restores the terminal.
    package func stop() async {
        await self.thread?.close()
        self.output("\u{1B}[?2004l\u{1B}[?25h\u{1B}[?1049l")
    }

    package func resized(width: Int, height: Int) {
        self.screen.resize(width: width, height: height)
        self.shown = nil
        self.draw()
    }

    /// Bytes of the keyboard arrived; no further ones follow at once.
    package func received(_ bytes: [UInt8]) async {
        for key in self.keys.read(bytes) + self.keys.flush() {
            self.notice = nil
            self.hits = nil
            for action in self.screen.handle(key) { await self.perform(action) }
        }
        self.draw()
    }

    // MARK: Actions

    private func perform(_ action: ScreenAction) async {
        do throws(ChatClientError) {
            switch action {
            case .quit: self.hasEnded = true
            case .open(let text): if let id = ConversationID(text) { await self.open(id) }
            case .send(let text): try await self.thread?.conversation.send(text)
            case .typing: await self.thread?.conversation.setTyping(true)
            case .loadEarlier: await self.thread?.loadEarlier()
            case .search(let text): self.hits = try await self.client.searchReachable(text).hits
            case .command(let text): try await self.run(text)
            }
        } catch {
            self.notice = error.message
        }
    }

    private func open(_ id: ConversationID) async {
        if self.thread?.conversation.id != id {
            await self.thread?.close()
            let thread = ThreadModel(client: self.client, conversation: id)
            self.thread = thread
            await thread.open()
        }
        self.screen.show(id.rawValue)
        if let last = self.thread?.messages.last(where: { !$0.isOwn && $0.event.n != nil }) { await self.thread?.didShow(last) }
    }

    private func run(_ command: String) async throws(ChatClientError) {
        let parts = command.split(separator: " ", maxSplits: 1).map(String.init)
        let argument = parts.count > 1 ? parts[1] : ""
        let rows = self.thread?.rows ?? []
        switch (parts.first ?? "", self.thread?.conversation) {
        case ("chat", _): await self.open(try await self.client.conversation(with: argument).id)
        case ("file", let chat?): try await chat.send(file: argument, type: MediaType.of(path: argument))
        case ("edit", let chat?):
            guard let seq = rows.last(where: { $0.isOwn && $0.seq != nil && $0.text != nil })?.seq else { break }
            try await chat.edit(seq, text: argument)
        case ("recall", let chat?):
            guard let seq = rows.last(where: { $0.isOwn && $0.seq != nil && !$0.event.state.isBlank })?.seq else { break }
            try await chat.recall(seq)
        case ("react", let chat?):
            guard let seq = rows.last(where: { !$0.isOwn && $0.event.n != nil })?.seq else { break }
            try await chat.react(seq, argument)
        case ("retry", let chat?):
            for row in rows { if case .failed = row.delivery, let id = row.event.id { try await chat.retry(id) } }
        case ("discard", let chat?):
            for row in rows { if case .failed = row.delivery, let id = row.event.id { try await chat.discard(id) } }
        default: self.notice = "/chat NAME  /search WORDS  /file PATH  /edit TEXT  /recall  /react EMOJI  /retry  /discard  /quit"
        }
    }

    // MARK: Drawing

    private func draw() {
        let frame = withObservationTracking {
            self.fill()
            return self.screen.frame()
        } onChange: {
            Task { @MainActor [weak self] in self?.changed() }
        }
        guard frame != self.shown else { return }
        self.output(frame.output(after: self.shown))
        self.shown = frame
        self.requestNames()
    }

    /// Several changes of one turn are drawn once.
    private func changed() {
        guard !self.isDrawing else { return }
        self.isDrawing = true
        Task { @MainActor [weak self] in
            self?.isDrawing = false
            self?.draw()
        }
    }

    private func fill() {
        self.screen.conversations = self.list.conversations.map { head in
            ScreenConversation(
                id: head.conversation.rawValue, title: self.list.title(of: head), preview: head.last?.text ?? "",
                time: self.time(head.at), unread: head.unread, isPinned: head.own.pinnedAt != nil)
        }
        let rows = self.hits.map { $0.reversed().map(\.message) } ?? self.thread?.rows ?? []
        self.screen.messages = rows.map { ScreenMessage($0, names: self.name, time: self.time) }
        let typing = (self.thread?.typing ?? []).map(self.name)
        self.screen.typing = typing.isEmpty ? "" : typing.joined(separator: ", ") + (typing.count == 1 ? " is typing" : " are typing")
        self.screen.isWarning = self.notice != nil
        self.screen.status = self.notice.map(TerminalText.plain) ?? self.thread?.error?.message ?? self.status
    }

    private var status: String {
        switch self.list.connection {
        case .connecting: "connecting"
        case .syncing: "synchronizing"
        case .online: "online"
        case .signedOut(let error): "signed out: " + error.message
        case .closed: "closed"
        }
    }

    private func name(_ user: UserName) -> String {
        if let known = self.names[user] { return known }
        self.wanted.insert(user)
        return user.rawValue
    }

    private func requestNames() {
        guard !self.wanted.isEmpty else { return }
        let wanted = self.wanted
        self.wanted = []
        let client = self.client
        Task { @MainActor [weak self] in
            for user in wanted {
                guard let profile = await client.user(user) else { continue }
                self?.names[user] = profile.nick ?? user.rawValue
            }
            self?.draw()
        }
    }
}

/// The media types of common files, by their extension.
enum MediaType {
    private static let types = [
        "png": "image/png", "jpg": "image/jpeg", "jpeg": "image/jpeg", "gif": "image/gif", "webp": "image/webp", "pdf": "application/pdf",
        "txt": "text/plain", "zip": "application/zip",
    ]

    static func of(path: String) -> String {
        path.split(separator: ".").last.flatMap { self.types[$0.lowercased()] } ?? "application/octet-stream"
    }
}

public import ApusChatProtocol
public import Observation

/// A model of the input of a conversation, for a view: the text as Markdown, the mentions, the
/// files, the message that is answered or edited, and the draft.
@MainActor @Observable
public final class ComposerModel {
    /// The effect of the next ``send()``.
    public enum Mode: Hashable, Sendable {
        /// Sends a message.
        case new
        /// Sends a reply to a message.
        case reply(ChatMessage)
        /// Replaces the text of a message of the user.
        case edit(ChatMessage)
    }

    /// A file to send.
    public struct File: Hashable, Sendable {
        /// The path of the file.
        public var path: String
        /// The media type, for example `image/png`.
        public var type: String

        /// Creates the description of a file.
        ///
        /// - Parameters:
        ///   - path: The path of the file.
        ///   - type: The media type.
        public init(path: String, type: String) {
            self.path = path
            self.type = type
        }
    }

    /// The text, as Markdown (``ChatMarkdown``). After a change, the model stores the draft with a
    /// delay, and notifies the other members that the user is writing.
    public var text = "" {
        didSet { if self.text != oldValue { self.textChanged() } }
    }
    /// The effect of the next ``send()``.
    public private(set) var mode: Mode = .new
    /// The files that the next ``send()`` sends before the text.
    public var files: [File] = []
    /// Whether the next message is sent without a notification of its recipients.
    public var isSilent = false
    /// The time at which the server sends the next text, in milliseconds since 1970; nil to send it
    /// immediately. Files are always sent immediately.
    public var sendAt: Int64?
    /// The users whose names complete the `@name` at the end of the text.
    public private(set) var suggestions: [ChatUser] = []
    /// The error of the last ``send()``; nil if it succeeded.
    public private(set) var error: ChatClientError?
    /// Whether ``send()`` is running.
    public private(set) var isSending = false
    /// Whether a file is selected or the text is not blank.
    public var canSend: Bool { !self.files.isEmpty || self.text.contains { !$0.isWhitespace } }

    /// The conversation.
    public let conversation: ChatConversation
    /// The position of the message that began the thread to which this input sends; nil if the
    /// messages do not belong to a thread.
    public let thread: Int64?
    private let client: ChatClient
    /// The users the text can mention, by the lower-case names that are typed after `@`.
    @ObservationIgnored private var mentions: [String: UserName] = [:]
    /// The text of the new message while another message is edited.
    @ObservationIgnored private var unfinished = ""
    @ObservationIgnored private var draftTask: Task<Void, Never>?
    @ObservationIgnored private var suggestionTask: Task<Void, Never>?
    @ObservationIgnored private var lastTyping: Int64 = 0
    @ObservationIgnored private var isRestoring = false
    private static let draftPause: Duration = .seconds(1)
    private static let suggestionPause: Duration = .milliseconds(150)
    private static let typingPause: Int64 = 3_000
    private static let maximumSuggestions = 8

    /// Creates an empty input. ``restore()`` fills it with the draft of the conversation.
    ///
    /// - Parameters:
    ///   - client: The client that sends the messages.
    ///   - conversation: The conversation.
    ///   - thread: The position of the message that began the thread to which the messages belong.
    ///     Default: none.
    public init(client: ChatClient, conversation: ConversationID, thread: Int64? = nil) {
        self.client = client
        self.conversation = client.conversation(conversation)
        self.thread = thread
    }

    // Not every view can call `leave()` when it disappears. The release of the model cancels its
    // timers. Only `leave()` stores a draft that changed within the last second.
    deinit {
        self.draftTask?.cancel()
        self.suggestionTask?.cancel()
    }

    /// Replaces an empty text with the draft of the conversation. Threads have no drafts.
    public func restore() async {
        guard self.thread == nil, self.text.isEmpty, let draft = (try? await self.conversation.draft) ?? nil else { return }
        self.replaceText(draft.text)
        if let ref = draft.ref,
            let message = try? await self.conversation.messages(around: ref, limit: 2).messages.first(where: { $0.event.seq == ref })
        {
            self.mode = .reply(message)
        }
    }

    /// Makes the next message a reply.
    ///
    /// - Parameter message: The message to reply to.
    public func reply(to message: ChatMessage) {
        guard message.seq != nil else { return }
        self.endEdit()
        self.mode = .reply(message)
    }

    /// Begins to edit a message of the user. The text of an unfinished new message is shown again
    /// after the edit.
    ///
    /// - Parameter message: The message.
    public func edit(_ message: ChatMessage) {
        guard message.isOwn, message.seq != nil, let (text, entities) = message.body?.editableWords else { return }
        if case .edit = self.mode {} else { self.unfinished = self.text }
        self.mode = .edit(message)
        let scalars = Array(text.unicodeScalars)
        for case let entity in entities where entity.kind == .mention {
            guard let user = entity.user, entity.offset >= 0, entity.length > 1, entity.offset < scalars.count else { continue }
            let name = scalars[Int(entity.offset)...].prefix(Int(clamping: entity.length)).dropFirst()
            self.mentions[String(String.UnicodeScalarView(name)).lowercased()] = user
        }
        self.replaceText(ChatMarkdown.source(of: text, entities: entities))
    }

    /// Ends a reply or an edit, so that the next message is an ordinary one.
    public func cancel() {
        self.endEdit()
        self.mode = .new
    }

    /// Ends an edit and shows the text of the new message again.
    private func endEdit() {
        guard case .edit = self.mode else { return }
        self.mode = .new
        self.replaceText(self.unfinished)
        self.unfinished = ""
    }

    // MARK: Sending

    /// Sends the files and the text, or stores the edit. After a failure the text remains, and
    /// ``error`` is set. A call while another one is running has no effect.
    public func send() async {
        guard self.canSend, !self.isSending else { return }
        self.isSending = true
        defer { self.isSending = false }
        let (source, mode, files, isSilent) = (self.text, self.mode, self.files, self.isSilent)
        await self.endDraftTask()
        do throws(ChatClientError) {
            let (text, entities) = try await self.parsed(source)
            if case .edit(let message) = mode, let seq = message.seq {
                let body = message.body?.replacingWords(text, entities) ?? .text(TextBody(text: text, entities: entities))
                try await self.conversation.edit(seq, body: body)
                if self.mode == mode { self.endEdit() }
            } else {
                var reply: Int64?
                if case .reply(let message) = mode { reply = message.seq }
                for file in files {
                    try await self.conversation.send(
                        file: file.path, type: file.type, replyTo: reply, thread: self.thread, isSilent: isSilent)
                    // The file is sent. A later failure must not make the next attempt send it
                    // again.
                    if let index = self.files.firstIndex(of: file) { self.files.remove(at: index) }
                    if reply != nil { (reply, self.mode) = (nil, .new) }
                }
                if !text.isEmpty { try await self.send(.text(TextBody(text: text, entities: entities)), replyTo: reply) }
                self.sent(source, mode)
            }
            self.mentions = [:]
            self.error = nil
            self.lastTyping = 0
        } catch {
            self.error = error
        }
    }

    /// Removes a sent text from the input. The user may have continued to write, or begun an edit.
    private func sent(_ source: String, _ mode: Mode) {
        if case .edit = self.mode {
            self.unfinished = Self.rest(of: self.unfinished, after: source)
        } else {
            self.replaceText(Self.rest(of: self.text, after: source))
            if self.mode == mode { self.mode = .new }
        }
        self.isSilent = false
        self.sendAt = nil
    }

    private static func rest(of text: String, after source: String) -> String {
        text.hasPrefix(source) ? String(text.dropFirst(source.count)) : text
    }

    private func send(_ body: ChatBody, replyTo reply: Int64?) async throws(ChatClientError) {
        if let sendAt {
            try await self.conversation.schedule(body, at: sendAt, replyTo: reply, thread: self.thread, isSilent: self.isSilent)
        } else {
            try await self.conversation.send(body, replyTo: reply, thread: self.thread, isSilent: self.isSilent)
        }
    }

    /// Parses the Markdown of the input. `@all` becomes an entity only if the user may mention all
    /// members.
    private func parsed(_ source: String) async throws(ChatClientError) -> (text: String, entities: [TextEntity]) {
        var mentions = self.mentions
        let head = try? await self.conversation.head
        if let peer = head?.peer { mentions[peer.name.rawValue.lowercased()] = peer.name }
        return ChatMarkdown.parse(source, mentions: mentions, all: head?.wordsForAll ?? [])
    }

    // MARK: Mentions

    /// The unfinished name after an `@` at the end of the text; nil if there is no unfinished name.
    var mentionStart: String? {
        guard let at = self.text.lastIndex(of: "@") else { return nil }
        let name = self.text[self.text.index(after: at)...]
        guard name.unicodeScalars.count <= 32, name.unicodeScalars.allSatisfy(\.isNameCharacter) else { return nil }
        if at > self.text.startIndex, let before = self.text[..<at].unicodeScalars.last, before.isLatinOrNumber { return nil }
        return String(name)
    }

    /// Completes the `@name` at the end of the text, and mentions the user.
    ///
    /// - Parameter user: One of ``suggestions``.
    public func complete(with user: ChatUser) {
        guard self.mentionStart != nil, let at = self.text.lastIndex(of: "@") else { return }
        self.mentions[user.name.rawValue.lowercased()] = user.name
        self.suggestions = []
        self.text = self.text[...at] + user.name.rawValue + " "
    }

    private func updateSuggestions() {
        self.suggestionTask?.cancel()
        guard let start = self.mentionStart else {
            if !self.suggestions.isEmpty { self.suggestions = [] }
            return
        }
        let sleep = self.client.engine.environment.sleep
        let (channel, me) = (self.conversation, self.client.user)
        self.suggestionTask = Task { [weak self] in
            guard (try? await sleep(Self.suggestionPause)) != nil else { return }
            let found = try? await channel.members(matching: start.isEmpty ? nil : start).members.map(\.user)
            guard let self, !Task.isCancelled, self.mentionStart == start else { return }
            let users = (found ?? []).filter { $0.name != me }
            self.suggestions = Array(users.prefix(Self.maximumSuggestions))
            // A name that was typed without a completion is also a mention.
            for user in users { self.mentions[user.name.rawValue.lowercased()] = user.name }
        }
    }

    // MARK: Drafts

    /// Stores the draft and sends it to the other devices of the user. Call this method when the
    /// user leaves the conversation.
    public func leave() async {
        await self.endDraftTask()
        self.suggestionTask?.cancel()
        if case .edit = self.mode, self.unfinished.isEmpty { return }
        await self.saveDraft(sends: true)
    }

    private func replaceText(_ text: String) {
        self.isRestoring = true
        self.text = text
        self.isRestoring = false
    }

    private func textChanged() {
        guard !self.isRestoring else { return }
        self.updateSuggestions()
        let now = self.client.engine.environment.now()
        let channel = self.conversation
        if self.lastTyping == 0 || now - self.lastTyping >= Self.typingPause, !self.text.isEmpty {
            self.lastTyping = now
            Task { await channel.setTyping(true) }
        }
        if case .edit = self.mode { return }
        self.draftTask?.cancel()
        let sleep = self.client.engine.environment.sleep
        self.draftTask = Task { [weak self] in
            guard (try? await sleep(Self.draftPause)) != nil else { return }
            await self?.saveDraft(sends: false)
        }
    }

    /// Cancels the task that stores the draft, and waits until the task has ended. Without the
    /// wait, the task could store a text that was sent.
    private func endDraftTask() async {
        self.draftTask?.cancel()
        await self.draftTask?.value
    }

    private func saveDraft(sends: Bool) async {
        guard self.thread == nil else { return }
        var (text, ref) = (self.text, nil as Int64?)
        switch self.mode {
        case .new: break
        case .reply(let message): ref = message.seq
        case .edit: text = self.unfinished
        }
        let known = (try? await self.conversation.draft) ?? nil
        guard known?.text ?? "" != text || known?.ref != ref || sends else { return }
        try? await self.conversation.setDraft(text, replyTo: ref, sends: sends)
    }
}

extension ChatBody {
    /// The text of a message or the caption of a file, with its entities; nil for other kinds, and
    /// for a file without a caption.
    fileprivate var editableWords: (text: String, entities: [TextEntity])? {
        switch self {
        case .text(let body): (body.text, body.entities)
        case .image(let body): body.text.map { ($0, body.entities) }
        case .audio(let body): body.text.map { ($0, body.entities) }
        case .video(let body): body.text.map { ($0, body.entities) }
        case .file(let body): body.text.map { ($0, body.entities) }
        default: nil
        }
    }

    /// Returns the body with another text or caption. The file is kept, because an edit replaces
    /// the whole body.
    fileprivate func replacingWords(_ text: String, _ entities: [TextEntity]) -> ChatBody? {
        switch self {
        case .text: return .text(TextBody(text: text, entities: entities))
        case .image(var body):
            (body.text, body.entities) = (text, entities)
            return .image(body)
        case .audio(var body):
            (body.text, body.entities) = (text, entities)
            return .audio(body)
        case .video(var body):
            (body.text, body.entities) = (text, entities)
            return .video(body)
        case .file(var body):
            (body.text, body.entities) = (text, entities)
            return .file(body)
        default: return nil
        }
    }
}

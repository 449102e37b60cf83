public import ApusChatProtocol
public import Observation

/// The input of a conversation, for a view: the text, the message that it answers or replaces, and
/// the draft.
@MainActor @Observable
public final class ComposerModel {
    /// What the next ``send()`` does.
    public enum Mode: Hashable, Sendable {
        /// Sends a message.
        case new
        /// Sends an answer to a message.
        case reply(ChatMessage)
        /// Replaces the text of an own message.
        case edit(ChatMessage)
    }

    /// The text. A change stores the draft after a pause and tells the others that the user writes.
    public var text = "" {
        didSet { if self.text != oldValue { self.textChanged() } }
    }
    /// What the next ``send()`` does.
    public private(set) var mode: Mode = .new
    /// The files that the next ``send()`` sends before the text: path and media type.
    public var files: [(path: String, type: String)] = []
    /// Why the last message could not be sent.
    public private(set) var error: ChatClientError?
    /// Whether there is something to send.
    public var canSend: Bool { !self.files.isEmpty || self.text.contains { !$0.isWhitespace } }

    /// The conversation.
    public let conversation: ChatConversation
    private let sleep: @Sendable (Duration) async throws -> Void
    private let now: @Sendable () -> Int64
    @ObservationIgnored private var draftTask: Task<Void, Never>?
    @ObservationIgnored private var lastTyping: Int64 = 0
    @ObservationIgnored private var isRestoring = false
    private static let draftPause: Duration = .seconds(1)
    private static let typingPause: Int64 = 3_000

    /// Creates the input of a conversation. ``restore()`` fills it with the draft.
    public init(client: ChatClient, conversation: ConversationID) {
        self.conversation = client.conversation(conversation)
        self.sleep = client.engine.environment.sleep
        self.now = client.engine.environment.now
    }

    deinit { self.draftTask?.cancel() }

    /// Shows the draft of the conversation.
    public func restore() async {
        guard self.text.isEmpty, let draft = (try? await self.conversation.draft) ?? nil else { return }
        self.isRestoring = true
        self.text = draft.text
        self.isRestoring = false
        if let ref = draft.ref,
            let message = try? await self.conversation.messages(around: ref, limit: 2).messages.first(where: { $0.event.seq == ref })
        {
            self.mode = .reply(message)
        }
    }

    /// The next message answers this one.
    public func reply(to message: ChatMessage) { if message.seq != nil { self.mode = .reply(message) } }

    /// The text of an own message is edited.
    public func edit(_ message: ChatMessage) {
        guard message.isOwn, message.seq != nil, let text = message.text else { return }
        self.mode = .edit(message)
        self.isRestoring = true
        self.text = text
        self.isRestoring = false
    }

    /// Ends an answer or an edit.
    public func cancel() {
        if case .edit = self.mode { self.text = "" }
        self.mode = .new
    }

    /// Sends what was written. On a failure the text remains.
    public func send() async {
        guard self.canSend else { return }
        let (text, mode, files) = (self.text.trimmingWhitespace, self.mode, self.files)
        self.draftTask?.cancel()
        do throws(ChatClientError) {
            var reply: Int64?
            if case .reply(let message) = mode { reply = message.seq }
            if case .edit(let message) = mode, let seq = message.seq {
                try await self.conversation.edit(seq, text: text)
            } else {
                for file in files {
                    try await self.conversation.send(file: file.path, type: file.type, replyTo: reply)
                    reply = nil
                }
                if !text.isEmpty { try await self.conversation.send(text, replyTo: reply) }
            }
            self.isRestoring = true
            self.text = ""
            self.isRestoring = false
            self.files = []
            self.mode = .new
            self.error = nil
            self.lastTyping = 0
        } catch {
            self.error = error
        }
    }

    /// The user leaves the conversation: other devices get the draft.
    public func leave() async {
        self.draftTask?.cancel()
        if case .edit = self.mode { return }
        await self.saveDraft(sends: true)
    }

    private func textChanged() {
        guard !self.isRestoring else { return }
        let now = self.now()
        let conversation = self.conversation
        if self.lastTyping == 0 || now - self.lastTyping >= Self.typingPause, !self.text.isEmpty {
            self.lastTyping = now
            Task { await conversation.setTyping(true) }
        }
        if case .edit = self.mode { return }
        self.draftTask?.cancel()
        let sleep = self.sleep
        self.draftTask = Task { [weak self] in
            guard (try? await sleep(Self.draftPause)) != nil else { return }
            await self?.saveDraft(sends: false)
        }
    }

    private func saveDraft(sends: Bool) async {
        var ref: Int64?
        if case .reply(let message) = self.mode { ref = message.seq }
        let known = (try? await self.conversation.draft) ?? nil
        guard known?.text ?? "" != self.text || known?.ref != ref || sends else { return }
        try? await self.conversation.setDraft(self.text, replyTo: ref, sends: sends)
    }
}

extension String {
    /// The text without white space at its ends.
    var trimmingWhitespace: String {
        guard let first = self.firstIndex(where: { !$0.isWhitespace }), let last = self.lastIndex(where: { !$0.isWhitespace }) else {
            return ""
        }
        return String(self[first...last])
    }
}

public import ApusChatProtocol
import Foundation

/// Reads, writes and changes the log of a conversation of a ``ChatClient``.
///
/// The value contains no messages, and is cheap to copy. Messages are stored before `send` returns,
/// and are sent in order. Drafts and read positions are also stored. Other changes wait for a
/// connection for at most ``ChatClientConfiguration/changePatience`` and then throw `notConnected`.
public struct ChatConversation: Sendable {
    /// The id of the conversation.
    public let id: ConversationID
    let engine: ChatEngine

    /// The summary of the conversation: its title, its counters and the user's settings for it.
    public var head: ChatHead {
        get async throws(ChatClientError) { try await self.engine.head(self.id) }
    }

    // MARK: Reading

    /// Returns the messages before a position, or the newest messages. Messages that are not stored
    /// are requested from the server.
    ///
    /// - Parameters:
    ///   - seq: The position; nil for the end of the log.
    ///   - limit: The maximum number of messages. Default: 50.
    public func messages(before seq: Int64? = nil, limit: Int = 50) async throws(ChatClientError) -> ThreadPage {
        try await self.engine.earlier(in: self.id, before: seq, limit: limit)
    }

    /// Returns stored messages before a position, or the newest ones. Makes no request.
    ///
    /// - Parameters:
    ///   - seq: The position; nil for the end of the log.
    ///   - limit: The maximum number of messages. Default: 50.
    public func storedMessages(before seq: Int64? = nil, limit: Int = 50) async throws(ChatClientError) -> ThreadPage {
        try await self.engine.earlier(in: self.id, before: seq, limit: limit, requests: false)
    }

    /// Returns the messages after a position.
    ///
    /// - Parameters:
    ///   - seq: The position.
    ///   - limit: The maximum number of messages. Default: 50.
    public func messages(after seq: Int64, limit: Int = 50) async throws(ChatClientError) -> ThreadPage {
        try await self.engine.later(in: self.id, after: seq, limit: limit)
    }

    /// Returns the messages on both sides of a position, for a view that jumps to the position.
    ///
    /// - Parameters:
    ///   - seq: The position.
    ///   - limit: The maximum number of messages. Default: 50.
    public func messages(around seq: Int64, limit: Int = 50) async throws(ChatClientError) -> ThreadPage {
        try await self.engine.around(seq, in: self.id, limit: limit)
    }

    // MARK: Threads

    /// Returns the messages of a thread after a position, oldest first. The first message of a
    /// thread is the one that began it.
    ///
    /// Without a connection, only stored replies are returned.
    ///
    /// - Parameters:
    ///   - root: The position of the message that began the thread.
    ///   - seq: The position; 0 for the beginning of the thread.
    ///   - limit: The maximum number of messages. Default: 50; at most 200.
    public func replies(to root: Int64, after seq: Int64, limit: Int = 50) async throws(ChatClientError) -> ThreadPage {
        try await self.engine.replies(to: root, in: self.id, after: seq, limit: limit)
    }

    /// Returns the messages of a thread before a position, or its newest messages, oldest first.
    ///
    /// Without a connection, only stored replies are returned.
    ///
    /// - Parameters:
    ///   - root: The position of the message that began the thread.
    ///   - seq: The position; nil for the end of the thread.
    ///   - limit: The maximum number of messages. Default: 50; at most 200.
    public func replies(to root: Int64, before seq: Int64? = nil, limit: Int = 50) async throws(ChatClientError) -> ThreadPage {
        try await self.engine.replies(to: root, in: self.id, before: seq, limit: limit)
    }

    /// The messages of the user that the stored log of the conversation does not contain, in the
    /// order in which they were written.
    public var unsent: [ChatMessage] {
        get async throws(ChatClientError) { try await self.engine.unsent(in: self.id) }
    }

    /// The position of the first unread message; nil if all messages are read, or if it cannot be
    /// determined.
    public var firstUnread: Int64? {
        get async throws(ChatClientError) { try await self.engine.firstUnread(in: self.id) }
    }

    /// Moves the read position forward to a message. The server is notified when there is a
    /// connection.
    ///
    /// - Parameter message: The last message that the user has read.
    public func markRead(_ message: ChatMessage) async {
        if let n = message.event.n { await self.engine.read(n, in: self.id) }
    }

    /// Returns the members who have received or read a message.
    ///
    /// - Parameter seq: The position of the message in the log.
    public func readers(of seq: Int64) async throws(ChatClientError) -> [Reader] {
        try await self.engine.askPatiently(ChatVerbs.readers, ReadersRequest(conversation: self.id, seq: seq)).readers
    }

    // MARK: Writing

    /// Stores a text message and sends it as soon as possible.
    ///
    /// - Parameters:
    ///   - text: The text.
    ///   - entities: The formats of the text. Default: none.
    ///   - seq: The position of the message to reply to. Default: none.
    ///   - thread: The position of the message that began the thread. Default: none.
    @discardableResult
    public func send(
        _ text: String, entities: [TextEntity] = [], replyTo seq: Int64? = nil, thread: Int64? = nil
    ) async throws(ChatClientError) -> ChatMessage {
        try await self.send(.text(TextBody(text: text, entities: entities)), replyTo: seq, thread: thread)
    }

    /// Stores a message and sends it as soon as possible.
    ///
    /// - Parameters:
    ///   - body: The body of the message.
    ///   - seq: The position of the message to reply to. Default: none.
    ///   - thread: The position of the message that began the thread. Default: none.
    ///   - isSilent: Whether to send without notifying the recipients. Default: `false`.
    @discardableResult
    public func send(
        _ body: ChatBody, replyTo seq: Int64? = nil, thread: Int64? = nil, isSilent: Bool = false
    ) async throws(ChatClientError) -> ChatMessage {
        try await self.engine.send(body, to: self.id, ref: seq, thread: thread, isSilent: isSilent)
    }

    /// Stores a message with a file, uploads the file and sends the message. Later messages without
    /// a file can be sent before it. The upload resumes after a restart of the program if the file
    /// still exists. ``ChatMessage/progress`` is the uploaded part of the file. If a server
    /// that was restored from a backup has lost the file, it is uploaded again, unless it was
    /// changed or removed.
    ///
    /// - Parameters:
    ///   - path: The path of the file.
    ///   - type: The media type, for example `image/png`.
    ///   - caption: The text below the file. Default: none.
    ///   - entities: The formats of the caption. Default: none.
    ///   - seq: The position of the message to reply to. Default: none.
    ///   - thread: The position of the message that began the thread. Default: none.
    ///   - isSilent: Whether to send without notifying the recipients. Default: `false`.
    @discardableResult
    public func send(
        file path: String, type: String, caption: String? = nil, entities: [TextEntity] = [], replyTo seq: Int64? = nil,
        thread: Int64? = nil, isSilent: Bool = false
    ) async throws(ChatClientError) -> ChatMessage {
        let size = try ChatEngine.size(ofFile: path)
        let maximum = await self.engine.limits.blobBytes
        guard size <= maximum else {
            throw ChatClientError(
                .invalidUse, message: "the file \(path) is too large: the server accepts at most \(ByteCount.text(ofLimit: maximum))")
        }
        guard let blob = BlobID(OutboxEntry.missingBlob) else {
            throw ChatClientError(.invalidUse, message: "the file \(path) cannot be sent: the placeholder of its blob id is not valid")
        }
        let name = String(URL(fileURLWithPath: path).lastPathComponent.unicodeScalars.prefix(ChatLimits.fileNameLength))
        let caption = caption.flatMap { $0.isEmpty ? nil : $0 }
        // The width and the height are placeholders. The server's values replace them after the
        // upload.
        let body: ChatBody =
            type.hasPrefix("image/")
            ? .image(ImageBody(blob: blob, width: 1, height: 1, size: size, type: type, name: name, text: caption, entities: entities))
            : .file(FileBody(blob: blob, name: name, size: size, type: type, text: caption, entities: entities))
        let upload = OutboxUpload(file: path, type: type, size: size)
        return try await self.engine.send(body, to: self.id, ref: seq, thread: thread, isSilent: isSilent, upload: upload)
    }

    /// Queues a refused message for another attempt, under a new id.
    ///
    /// - Parameter id: The id of the message.
    /// - Returns: The message with its new id; nil if there is no refused message with the given
    ///   id.
    @discardableResult
    public func retry(_ id: ClientID) async throws(ChatClientError) -> ChatMessage? { try await self.engine.retry(id) }

    /// Discards an unsent message.
    ///
    /// - Parameter id: The id of the message.
    public func discard(_ id: ClientID) async throws(ChatClientError) { try await self.engine.discard(id) }

    /// The draft of the conversation, written on this or another device of the user; nil if no
    /// draft is stored.
    public var draft: Draft? {
        get async throws(ChatClientError) { try await self.engine.draft(in: self.id) }
    }

    /// Stores the draft, an unfinished message.
    ///
    /// - Parameters:
    ///   - text: The text; empty to remove the draft.
    ///   - seq: The position of the message to reply to. Default: none.
    ///   - sends: Whether to send the draft to the other devices of the user now. Pass true when
    ///     the user pauses or leaves the conversation.
    public func setDraft(_ text: String, replyTo seq: Int64? = nil, sends: Bool = false) async throws(ChatClientError) {
        try await self.engine.save(draft: text, ref: seq, in: self.id)
        if sends { await self.engine.sendDrafts() }
    }

    /// Notifies the other members that the user is writing, or has stopped. Has no effect without a
    /// connection. Call this method at most once every few seconds.
    ///
    /// - Parameter isTyping: Whether the user is writing.
    public func setTyping(_ isTyping: Bool) async {
        await self.engine.tell(ChatVerbs.typing, TypingRequest(conversation: self.id, isStopped: !isTyping))
    }

    /// Reports that the conversation is on the screen. The server then sends the events of the
    /// conversation immediately, including in large groups. Call ``didClose()`` at the end.
    public func didOpen() async { await self.engine.opened(self.id) }

    /// Reports that the conversation is no longer on the screen.
    public func didClose() async { await self.engine.closed(self.id) }
}

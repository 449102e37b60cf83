public import ApusChatProtocol
import Foundation

/// A conversation: reading, writing, and everything that concerns one log.
///
/// A conversation is a name for a part of the client; it holds no rows. Messages are stored before
/// `send` returns and sent in order. Other changes need a connection and wait for one for
/// ``ChatClientConfiguration/changePatience``.
public struct ChatConversation: Sendable {
    /// The conversation.
    public let id: ConversationID
    let engine: ChatEngine

    /// The summary: title, counters, own settings.
    public var head: ChatHead {
        get async throws(ChatClientError) { try await self.engine.head(self.id) }
    }

    // MARK: Reading

    /// Returns the rows before a row, or the newest ones. What is not stored is requested.
    public func messages(before seq: Int64? = nil, limit: Int = 50) async throws(ChatClientError) -> ThreadPage {
        try await self.engine.earlier(in: self.id, before: seq, limit: limit)
    }

    /// Returns the newest stored rows without a request.
    public func storedMessages(before seq: Int64? = nil, limit: Int = 50) async throws(ChatClientError) -> ThreadPage {
        try await self.engine.earlier(in: self.id, before: seq, limit: limit, requests: false)
    }

    /// Returns the rows after a row.
    public func messages(after seq: Int64, limit: Int = 50) async throws(ChatClientError) -> ThreadPage {
        try await self.engine.later(in: self.id, after: seq, limit: limit)
    }

    /// Returns the rows around a message, for a jump to it.
    public func messages(around seq: Int64, limit: Int = 50) async throws(ChatClientError) -> ThreadPage {
        try await self.engine.around(seq, in: self.id, limit: limit)
    }

    // MARK: Threads

    /// Returns the rows of a thread after a row, oldest first. The first row of a thread is the
    /// message that began it.
    ///
    /// Without a connection, only stored replies are returned.
    ///
    /// - Parameters:
    ///   - root: The message that began the thread.
    ///   - seq: The row; 0 for the beginning of the thread.
    ///   - limit: The maximum number of rows. Default: 50; at most 200.
    public func replies(to root: Int64, after seq: Int64, limit: Int = 50) async throws(ChatClientError) -> ThreadPage {
        try await self.engine.replies(to: root, in: self.id, after: seq, limit: limit)
    }

    /// Returns the rows of a thread before a row, or its newest rows, oldest first.
    ///
    /// Without a connection, only stored replies are returned.
    ///
    /// - Parameters:
    ///   - root: The message that began the thread.
    ///   - seq: The row; nil for the end of the thread.
    ///   - limit: The maximum number of rows. Default: 50; at most 200.
    public func replies(to root: Int64, before seq: Int64? = nil, limit: Int = 50) async throws(ChatClientError) -> ThreadPage {
        try await self.engine.replies(to: root, in: self.id, before: seq, limit: limit)
    }

    /// The unsent messages, in the order of writing.
    public var unsent: [ChatMessage] {
        get async throws(ChatClientError) { try await self.engine.unsent(in: self.id) }
    }

    /// The first unread message; nil if all messages are read.
    public var firstUnread: Int64? {
        get async throws(ChatClientError) { try await self.engine.firstUnread(in: self.id) }
    }

    /// Moves the read position up to a message. It is told to the server once there is a
    /// connection.
    public func markRead(_ message: ChatMessage) async {
        if let n = message.event.n { await self.engine.read(n, in: self.id) }
    }

    /// Returns the members that have received or read a message.
    public func readers(of seq: Int64) async throws(ChatClientError) -> [Reader] {
        try await self.engine.askPatiently(ChatVerbs.readers, ReadersRequest(conversation: self.id, seq: seq)).readers
    }

    // MARK: Writing

    /// Stores a text and sends it as soon as possible.
    @discardableResult
    public func send(
        _ text: String, entities: [TextEntity] = [], replyTo seq: Int64? = nil, thread: Int64? = nil
    ) async throws(ChatClientError) -> ChatMessage {
        try await self.send(.text(TextBody(text: text, entities: entities)), replyTo: seq, thread: thread)
    }

    /// Stores a message and sends it as soon as possible.
    @discardableResult
    public func send(
        _ body: ChatBody, replyTo seq: Int64? = nil, thread: Int64? = nil, isSilent: Bool = false
    ) async throws(ChatClientError) -> ChatMessage {
        try await self.engine.send(body, to: self.id, ref: seq, thread: thread, isSilent: isSilent)
    }

    /// Stores a message with a file, which is uploaded first; later texts overtake it. The upload
    /// survives the end of the program, for as long as the file remains; ``ChatMessage/progress``
    /// tells how far it is.
    ///
    /// - Parameters:
    ///   - path: The path of the file.
    ///   - type: The media type, for example `image/png`.
    ///   - caption: The text below the file.
    ///   - seq: The message that it replies to.
    ///   - thread: The message whose thread it belongs to.
    ///   - isSilent: Whether the recipients are not notified.
    @discardableResult
    public func send(
        file path: String, type: String, caption: String? = nil, replyTo seq: Int64? = nil, thread: Int64? = nil, isSilent: Bool = false
    ) async throws(ChatClientError) -> ChatMessage {
        let attributes = try? FileManager.default.attributesOfItem(atPath: path)
        guard let size = (attributes?[.size] as? NSNumber)?.int64Value, size > 0 else {
            throw ChatClientError(.badInput, message: "the file \(path) is empty or cannot be read")
        }
        guard size <= ChatLimits.blobBytes else {
            throw ChatClientError(.badInput, message: "the file has \(size) bytes; at most \(ChatLimits.blobBytes) are possible")
        }
        guard let blob = BlobID(String(repeating: "0", count: 64)) else {
            throw ChatClientError(.badInput, message: "the file cannot be named")
        }
        let name = String(URL(fileURLWithPath: path).lastPathComponent.unicodeScalars.prefix(ChatLimits.fileNameLength))
        let caption = caption.flatMap { $0.isEmpty ? nil : $0 }
        // The server's measurements replace these after the upload.
        let body: ChatBody =
            type.hasPrefix("image/")
            ? .image(ImageBody(blob: blob, width: 1, height: 1, size: size, type: type, name: name, text: caption))
            : .file(FileBody(blob: blob, name: name, size: size, type: type, text: caption))
        let upload = OutboxUpload(file: path, type: type, size: size)
        return try await self.engine.send(body, to: self.id, ref: seq, thread: thread, isSilent: isSilent, upload: upload)
    }

    /// Sends a refused message again.
    public func retry(_ id: ClientID) async throws(ChatClientError) { try await self.engine.retry(id) }

    /// Removes an unsent message.
    public func discard(_ id: ClientID) async throws(ChatClientError) { try await self.engine.discard(id) }

    /// The unfinished message, of this device or of another one of the user.
    public var draft: Draft? {
        get async throws(ChatClientError) { try await self.engine.draft(in: self.id) }
    }

    /// Stores the unfinished message.
    ///
    /// - Parameters:
    ///   - text: The text; empty to remove the draft.
    ///   - seq: The message that it replies to.
    ///   - sends: Whether other devices get it now: when the user pauses or leaves.
    public func setDraft(_ text: String, replyTo seq: Int64? = nil, sends: Bool = false) async throws(ChatClientError) {
        try await self.engine.save(draft: text, ref: seq, in: self.id)
        if sends { await self.engine.sendDrafts() }
    }

    /// Tells the others that the user is writing, or has stopped. Call it at most every few
    /// seconds.
    public func setTyping(_ isTyping: Bool) async {
        await self.engine.tell(ChatVerbs.typing, TypingRequest(conversation: self.id, isStopped: !isTyping))
    }

    /// The conversation is on the screen: its events arrive at once, also in large groups. Pair it
    /// with ``didClose()``.
    public func didOpen() async { await self.engine.opened(self.id) }

    /// The conversation left the screen.
    public func didClose() async { await self.engine.closed(self.id) }
}

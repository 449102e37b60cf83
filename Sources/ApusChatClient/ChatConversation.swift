public import ApusChatProtocol
import ApusJSON

/// A conversation: its history, sending and changes.
public struct ChatConversation: Sendable, Identifiable {
    /// The identifier.
    public let id: ConversationID

    let engine: ChatEngine

    /// The name, members and counters.
    public var info: ChatConversationInfo {
        get async throws(ChatClientError) { try await self.engine.conversation(self.id) }
    }

    /// Returns the newest messages before `before` (a ``ChatMessage/seq``), oldest first. Without
    /// `before`, the result ends with the outbox.
    public func history(before: Int64? = nil, limit: Int = 50) async throws(ChatClientError) -> [ChatHistoryItem] {
        try await self.engine.history(of: self.id, before: before, limit: limit)
    }

    /// Fetches missing history: the newest gap if there is one, otherwise the events before the
    /// oldest stored event.
    /// - Returns: The number of fetched events; 0 when the history is complete.
    @discardableResult
    public func loadEarlier(limit: Int = 100) async throws(ChatClientError) -> Int {
        try await self.engine.loadEarlier(limit: limit, in: self.id)
    }

    /// Sends a text. Returns when the message is stored; the client sends it in order, as soon as
    /// possible. ``changes`` reports its delivery.
    @discardableResult
    public func send(_ text: String, ref: Int64? = nil) async throws(ChatClientError) -> ChatMessage {
        try await self.engine.send(kind: .text, body: ChatBody.text(.init(text: text)).value, ref: ref, in: self.id)
    }

    /// Sends a picture (PNG, JPEG, GIF or WebP, at most 10 MiB). Returns when the message is
    /// stored; the client uploads and sends it later.
    @discardableResult
    public func send(
        image bytes: [UInt8], type: String = "application/octet-stream", caption: String? = nil
    ) async throws(ChatClientError) -> ChatMessage {
        guard !bytes.isEmpty else { throw ChatClientError(.badInput, message: "the picture must not be empty") }
        guard bytes.count <= ChatLimits.blobBytes else {
            throw ChatClientError(.badInput, message: "the picture has \(bytes.count) bytes; the maximum is \(ChatLimits.blobBytes)")
        }
        guard PictureFormat(bytes) != nil else {
            throw ChatClientError(.badInput, message: "the picture must be a PNG, JPEG, GIF or WebP file")
        }
        return try await self.engine.send(
            kind: .image, body: caption.map { .object(["text": .string($0)]) } ?? .object([:]), attachment: (bytes, type), in: self.id)
    }

    /// Marks all messages up to `number` (a ``ChatMessage/number``) as read; without an argument,
    /// all messages.
    public func markRead(upTo number: Int64? = nil) async throws(ChatClientError) {
        try await self.engine.markRead(upTo: number, in: self.id)
    }

    /// The changes of this conversation from now on.
    public var changes: Changes { Changes(id: self.id, base: self.engine.broadcaster.subscribe()) }

    /// The changes of one conversation. Ends when the client is closed.
    public struct Changes: AsyncSequence, Sendable {
        /// A change.
        public typealias Element = ChatChange
        /// The sequence does not throw.
        public typealias Failure = Never

        fileprivate let id: ConversationID
        fileprivate let base: AsyncStream<ChatChange>

        /// Creates an iterator of the changes that no other iterator of this sequence has returned.
        public func makeAsyncIterator() -> AsyncIterator { AsyncIterator(id: self.id, base: self.base.makeAsyncIterator()) }

        /// The iterator of the changes.
        public struct AsyncIterator: AsyncIteratorProtocol {
            fileprivate let id: ConversationID
            fileprivate var base: AsyncStream<ChatChange>.Iterator

            /// Returns the next change; `nil` after the end, and when the task is cancelled.
            public mutating func next() async -> ChatChange? {
                while let change = await self.base.next() {
                    if change.conversation == self.id { return change }
                }
                return nil
            }

            /// Returns the next change; `nil` after the end, and when the task is cancelled.
            @available(macOS 15, iOS 18, tvOS 18, watchOS 11, visionOS 2, *)
            public mutating func next(isolation actor: isolated (any Actor)?) async -> ChatChange? {
                while let change = await self.base.next(isolation: actor) {
                    if change.conversation == self.id { return change }
                }
                return nil
            }
        }
    }
}

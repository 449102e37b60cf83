public import ApusChatProtocol
import ApusJSON

/// One conversation: read it, write to it, watch it.
public struct ChatConversation: Sendable, Identifiable {
    /// Its id.
    public let id: ConversationID

    let engine: ChatEngine

    /// Its name, members and counters.
    public var info: ChatConversationInfo {
        get async throws(ChatClientError) { try await self.engine.conversation(self.id) }
    }

    /// The newest messages before `before` (a ``ChatMessage/seq``), oldest first. Without `before`, the outbox stands at the end.
    public func history(before: Int64? = nil, limit: Int = 50) async throws(ChatClientError) -> [ChatHistoryItem] {
        try await self.engine.history(of: self.id, before: before, limit: limit)
    }

    /// Fetches a piece of the history that is not on this device: from the newest gap first, else from above everything.
    /// - Returns: the number of events that came; 0 when the history is complete.
    @discardableResult
    public func loadEarlier(limit: Int = 100) async throws(ChatClientError) -> Int {
        try await self.engine.loadEarlier(limit: limit, in: self.id)
    }

    /// Sends a text. Returns when it is stored; it goes out by itself, in order, as soon as it can. Follow it in ``changes`` by its id.
    @discardableResult
    public func send(_ text: String, ref: Int64? = nil) async throws(ChatClientError) -> ChatMessage {
        try await self.engine.send(kind: .text, body: ChatBody.text(.init(text: text)).value, ref: ref, in: self.id)
    }

    /// Sends a picture (PNG, JPEG, GIF or WebP, at most 10 MiB). Returns when it is stored; upload and sending go by themselves.
    @discardableResult
    public func send(
        image bytes: [UInt8], type: String = "application/octet-stream", caption: String? = nil
    ) async throws(ChatClientError) -> ChatMessage {
        guard !bytes.isEmpty else { throw ChatClientError(.badInput, message: "the picture is empty") }
        guard bytes.count <= ChatLimits.blobBytes else {
            throw ChatClientError(.badInput, message: "the picture has \(bytes.count) bytes, \(ChatLimits.blobBytes) are allowed")
        }
        guard PictureFormat(bytes) != nil else {
            throw ChatClientError(.badInput, message: "this is no picture that can be sent: use PNG, JPEG, GIF or WebP")
        }
        return try await self.engine.send(
            kind: .image, body: caption.map { .object(["text": .string($0)]) } ?? .object([:]), attachment: (bytes, type), in: self.id)
    }

    /// Marks everything up to a message (a ``ChatMessage/number``) as read; without one, everything.
    public func markRead(upTo number: Int64? = nil) async throws(ChatClientError) {
        try await self.engine.markRead(upTo: number, in: self.id)
    }

    /// What happens in this conversation from now on.
    public var changes: some AsyncSequence<ChatChange, Never> & Sendable {
        let id = self.id
        return self.engine.broadcaster.subscribe().filter { $0.conversation == id }
    }
}

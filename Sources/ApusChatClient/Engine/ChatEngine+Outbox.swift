import ApusChatProtocol
import ApusConnectivity
import ApusEventLoop
import ApusJSON
import Logging

extension ChatEngine {
    /// Stores a message and sends it as soon as possible. The message is durable when this method
    /// returns.
    func send(
        kind: ChatEventKind, body: JSONValue, ref: Int64? = nil, attachment: (bytes: [UInt8], type: String)? = nil,
        in conversation: ConversationID
    ) throws(ChatClientError) -> ChatMessage {
        guard self.state != .closed else { throw ChatClientError(.closed, message: "the client was closed") }
        guard self.machines[conversation] != nil else {
            throw ChatClientError(.notFound, message: "there is no conversation \(conversation)")
        }
        if attachment == nil {
            // Validates here, so that the error is reported to the caller immediately.
            do { _ = try ChatBody(kind: kind, body: body) } catch { throw ChatClientError(.badInput, message: error.message) }
        }
        let entry = OutboxEntry(
            id: self.environment.makeID(), conversation: conversation, kind: kind, body: body, ref: ref, at: self.environment.now(),
            attachmentType: attachment?.type)
        try self.store.enqueue(entry, attachment: attachment?.bytes)
        let message = ChatMessage(entry: entry, sender: self.me)
        self.broadcaster.yield(.outgoing(message))
        for id in self.outbox.enqueued(entry.id, in: conversation) { self.transmit(id) }
        return message
    }

    /// Starts an attempt to send a message.
    func transmit(_ id: ClientID) {
        self.start { await self.attempt(id) }
    }

    private func attempt(_ id: ClientID) async {
        do throws(ChatClientError) {
            guard var entry = try self.store.entry(id), entry.state == .queued else { return self.settle(id) }
            if entry.attachmentType != nil { entry.body = try await self.upload(entry) }
            let request = SendRequest(conv: entry.conversation, id: id, kind: entry.kind, body: entry.body, ref: entry.ref)
            let reply = try await self.ask(ChatVerb.send, request, as: SendReply.self)
            guard reply.id == id, reply.conv == entry.conversation else {
                throw ChatClientError(.badReply, message: "the server acknowledged another message")
            }
            try self.store.acknowledged(reply)
            self.settle(id)
            entry.state = .sent
            entry.seq = reply.seq
            entry.number = reply.n
            entry.at = reply.at
            self.broadcaster.yield(.outgoing(ChatMessage(entry: entry, sender: self.me)))
            self.received(
                ChatEvent(
                    conv: entry.conversation, seq: reply.seq, n: reply.n, sender: self.me, id: id, at: reply.at, kind: entry.kind,
                    ref: entry.ref, body: entry.body))
        } catch {
            self.failed(id, error)
        }
    }

    private func failed(_ id: ClientID, _ error: ChatClientError) {
        if error.isFinal {
            self.storing { () throws(ChatClientError) in try self.store.refused(id, reason: error.message) }
            if let entry = (try? self.store.entry(id)).flatMap({ $0 }) {
                self.broadcaster.yield(.outgoing(ChatMessage(entry: entry, sender: self.me)))
            }
            self.settle(id)
            return
        }
        if error.code == .store { self.broadcaster.yield(.storeFailed(error)) }
        self.logger.debug("Send failed; will retry", metadata: ["chat.id": "\(id)", "chat.error": "\(error)"])
        let (action, send) = self.outbox.failedForNow(id)
        switch action {
        case .rest(let conversation, let failures):
            // When the policy ends, the message waits for the next connection.
            guard let delay = self.configuration.resending.delay(forAttempt: failures, using: &self.dice) else { break }
            self.after(delay) { engine in
                for id in engine.outbox.restEnded(in: conversation) { engine.transmit(id) }
            }
        case .doNothing: break
        }
        for id in send { self.transmit(id) }
    }

    private func settle(_ id: ClientID) {
        for next in self.outbox.settled(id) { self.transmit(next) }
    }

    /// Uploads the picture of a message and stores the final body. A repeated upload is harmless,
    /// because the hash identifies the blob.
    private func upload(_ entry: OutboxEntry) async throws(ChatClientError) -> JSONValue {
        guard let type = entry.attachmentType, let bytes = try self.store.attachment(of: entry.id) else { return entry.body }
        let blob = try await self.blobs.upload(bytes, type: type)
        guard let width = blob.width, let height = blob.height else {
            throw ChatClientError(.badInput, message: "the server does not recognize the file as a picture; use PNG, JPEG, GIF or WebP")
        }
        let body = ChatBody.image(
            ChatImageBody(
                blob: blob.blob, width: width, height: height, size: blob.size, type: blob.type, text: entry.body["text"]?.stringValue)
        ).value
        try self.store.uploaded(entry.id, body: body)
        return body
    }
}

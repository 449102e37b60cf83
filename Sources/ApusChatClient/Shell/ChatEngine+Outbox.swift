import ApusChatCore
import ApusChatProtocol
import ApusJSON
import Foundation

extension ChatEngine {
    /// Stores a message durably, and sends it as soon as possible.
    func send(
        _ body: ChatBody, to conversation: ConversationID, ref: Int64?, thread: Int64?, isSilent: Bool, upload: OutboxUpload? = nil
    ) throws(ChatClientError) -> ChatMessage {
        guard self.state != .closed else { throw .closed }
        guard self.core.heads[conversation] != nil else {
            throw ChatClientError(.notFound, message: "the store has no conversation \(conversation)")
        }
        let request = SendRequest(
            id: self.environment.makeID(), conversation: conversation, kind: body.kind, body: body.fields, ref: ref, thread: thread,
            isSilent: isSilent)
        if upload == nil { try Self.validate(request) }
        let entry = OutboxEntry(
            request: request, at: self.environment.now(), state: upload == nil ? .queued : .uploading, upload: upload)
        let removal = thread == nil ? try self.draftRemoval(in: conversation) : nil
        try self.store.enqueue(entry, draft: removal)
        if removal != nil { self.sendDrafts() }
        let message = self.message(entry)
        self.broadcaster.yield(.outgoing(message))
        self.carryOut(self.core.enqueued(entry.id, in: conversation, isUploading: upload != nil))
        if upload != nil { self.startUpload(entry.id) }
        return message
    }

    /// Throws the errors with which the server would refuse the request, so that the caller
    /// receives them immediately.
    private static func validate(_ request: SendRequest) throws(ChatClientError) {
        do throws(WireError) { _ = try ChatKinds.accept(kind: request.kind, body: request.body) } catch {
            throw ChatClientError(.invalidUse, message: error.message)
        }
    }

    /// Queues a refused message for another attempt, under a new id. Returns nil if there is no
    /// refused message with the given id.
    func retry(_ id: ClientID) throws(ChatClientError) -> ChatMessage? {
        let new = self.environment.makeID()
        guard let entry = try self.store.requeue(id, as: new, at: self.environment.now()) else { return nil }
        let message = self.message(entry)
        self.broadcaster.yield(.discarded(entry.conversation, id))
        self.broadcaster.yield(.outgoing(message))
        self.carryOut(self.core.enqueued(new, in: entry.conversation, isUploading: entry.state == .uploading))
        if entry.state == .uploading { self.startUpload(new) }
        return message
    }

    /// Discards an unsent message. If its request is pending, the server may still store it.
    func discard(_ id: ClientID) throws(ChatClientError) {
        guard let entry = try self.store.entry(id), entry.state != .sent else { return }
        self.progress[id] = nil
        try self.store.discard(id)
        self.carryOut(self.core.discarded(id))
        self.broadcaster.yield(.discarded(entry.conversation, id))
    }

    // MARK: Restored servers

    /// Verifies the references of a message after the data of the server was replaced. Removes the
    /// reference to a message that the server does not have at its position; the rest of the
    /// message remains.
    ///
    /// - Throws: `notFound` if the server does not have the message that began the thread. Outside
    ///   of its thread, the reply would be a message without context. The request remains
    ///   unverified, so that another attempt cannot send it to a thread at the same position.
    func verified(_ request: SendRequest, _ cited: OutboxCitations) async throws(ChatClientError) -> SendRequest {
        if let thread = request.thread, try await !self.hasMessage(cited.thread, at: thread, in: request.conversation) {
            throw ChatClientError(
                .notFound, message: "the restored server does not have the message that began this thread; send the reply elsewhere")
        }
        var verified = request
        if let ref = request.ref, try await !self.hasMessage(cited.ref, at: ref, in: request.conversation) { verified.ref = nil }
        try self.store.verified(verified)
        return verified
    }

    private func hasMessage(
        _ identity: String?, at seq: Int64, in conversation: ConversationID
    ) async throws(ChatClientError) -> Bool {
        guard let identity else { return false }
        let answer = try await self.ask(ChatVerbs.history, HistoryRequest(conversation: conversation, range: .from(seq), limit: 1))
        return answer.events.contains { $0.seq == seq && $0.identity == identity }
    }

    /// Uploads the file of a message again that the server has lost.
    ///
    /// - Returns: Whether the message waits for the upload. It does not if the error has another
    ///   reason, if the message has no file, or if the file was already uploaded again.
    func uploadAgain(_ entry: OutboxEntry, after error: ChatClientError) -> Bool {
        guard let error = error.serverError, error.code == .notFound, error.field == "blob", entry.upload != nil,
            self.uploadedAgain.insert(entry.id).inserted
        else { return false }
        guard self.storing({ () throws(ChatClientError) in try self.store.uploadAgain(entry.id) }) != nil else { return false }
        self.announceOutgoing(entry.id)
        self.carryOut(self.core.uploadsAgain(entry.id))
        self.startUpload(entry.id)
        return true
    }

    // MARK: Uploads

    func startUpload(_ id: ClientID) {
        guard self.uploads.insert(id).inserted else { return }
        self.start { await self.upload(id) }
    }

    /// Uploads the file of a message. After an interruption or a restart of the program, the upload
    /// resumes from the offset that the server has stored.
    private func upload(_ id: ClientID) async {
        defer {
            self.uploads.remove(id)
            self.progress[id] = nil
        }
        var failures = 0
        var hasRenewed = false
        var location: String?
        while self.state != .closed {
            do throws(ChatClientError) {
                guard let upload = try self.wantedUpload(of: id) else { return await self.removeUpload(location) }
                location = upload.location ?? location
                let blob = try await self.transfer(
                    upload,
                    location: { path throws(ChatClientError) in
                        location = path
                        try self.store.setLocation(path, of: id)
                    },
                    progress: { bytes throws(ChatClientError) in
                        guard try self.wantedUpload(of: id) != nil else { throw Self.discarded }
                        self.uploaded(bytes, of: upload.size, id)
                    })
                guard let entry = try self.store.entry(id) else { return }
                // The server derives the id of a blob from its content.
                guard entry.blob == nil || entry.blob == blob.id.rawValue else {
                    throw ChatClientError(
                        .invalidUse,
                        message: """
                            the server has lost the file of the message, and \(upload.file) was changed since it was sent; send it as a \
                            new message
                            """)
                }
                var request = entry.request
                request.body = Self.body(of: request, with: blob)
                try Self.validate(request)
                try self.store.uploaded(request)
                self.progress[id] = nil
                self.announceOutgoing(id)
                self.carryOut(self.core.uploaded(id))
                return
            } catch {
                if error == Self.discarded { return await self.removeUpload(location) }
                if error.code == .signedOut {
                    // If the session has ended, the upload resumes after the next sign-in, like the
                    // messages without a file.
                    guard !hasRenewed else { return }
                    hasRenewed = true
                    await self.tokens.reject()
                    continue
                }
                guard error.asServerError.code.isTemporary else {
                    self.progress[id] = nil
                    let changes: [StoreChange] = [.refused(id, error.asServerError)]
                    let me = self.me
                    let effects = self.storing { () throws(ChatClientError) in try self.store.apply(changes, of: me) }
                    self.carryOut(self.core.discarded(id))
                    if let effects { self.announce(effects) }
                    return
                }
                failures += 1
                let delay = error.serverError?.retryAfter.map { Duration.milliseconds($0) } ?? .seconds(min(1 << min(failures, 5), 30))
                guard (try? await self.environment.sleep(delay)) != nil else { return }
            }
        }
    }

    private static let discarded = ChatClientError(.invalidUse, message: "the message was discarded during its upload")

    /// Returns the file of an unsent message; nil unless the message still waits for its upload.
    private func wantedUpload(of id: ClientID) throws(ChatClientError) -> OutboxUpload? {
        guard let entry = try self.store.entry(id), entry.state == .uploading else { return nil }
        return entry.upload
    }

    /// Removes the upload of a discarded message from the server, which limits the number of
    /// unfinished uploads. The server removes it after a day if this request fails.
    private func removeUpload(_ location: String?) async {
        guard let location, let access = try? await self.tokens.access() else { return }
        try? await self.http.removeUpload(location, access: access)
    }

    /// Records the number of uploaded bytes, and publishes the progress in steps of one percent.
    private func uploaded(_ bytes: Int64, of size: Int64, _ id: ClientID) {
        let fraction = size > 0 ? min(Double(bytes) / Double(size), 1) : 0
        guard self.uploads.contains(id), fraction - (self.progress[id] ?? -1) >= 0.01 else { return }
        self.progress[id] = fraction
        self.announceOutgoing(id)
    }

    /// Returns the size of a file. Throws `invalidUse` if the file is empty or is not a regular
    /// file.
    static func size(ofFile path: String) throws(ChatClientError) -> Int64 {
        let file = URL(fileURLWithPath: path).resolvingSymlinksInPath().path
        let attributes = try? FileManager.default.attributesOfItem(atPath: file)
        guard attributes?[.type] as? FileAttributeType == .typeRegular, let size = (attributes?[.size] as? NSNumber)?.int64Value, size > 0
        else {
            throw ChatClientError(.invalidUse, message: "the file \(path) is empty, is not a regular file, or cannot be read")
        }
        return size
    }

    /// Uploads a file that does not belong to a message, such as the user's picture.
    func upload(file path: String, type: String) async throws(ChatClientError) -> BlobID {
        let size = try Self.size(ofFile: path)
        let upload = OutboxUpload(file: path, type: type, size: size)
        return try await self.transfer(upload, location: { _ in }, progress: { _ in }).id
    }

    /// Uploads a file from the offset that the server has stored.
    ///
    /// - Parameters:
    ///   - upload: The file and the state of its upload.
    ///   - store: A function that stores the path of the upload, which is required to resume it.
    ///   - progress: A function that receives the number of uploaded bytes. It throws to end the
    ///     transfer.
    private func transfer(
        _ upload: OutboxUpload, location store: (String) throws(ChatClientError) -> Void,
        progress: (Int64) throws(ChatClientError) -> Void
    ) async throws(ChatClientError) -> UploadedBlob {
        guard let file = FileHandle(forReadingAtPath: upload.file) else {
            throw ChatClientError(.notFound, message: "the file \(upload.file) does not exist or cannot be read")
        }
        defer { try? file.close() }
        var location = upload.location
        var offset: Int64 = 0
        if let known = location {
            if let reached = try await self.http.uploadOffset(known, access: try await self.tokens.access()) {
                offset = reached
            } else {
                location = nil  // the server has removed it
            }
        }
        let path: String
        if let location {
            path = location
        } else {
            let name = URL(fileURLWithPath: upload.file).lastPathComponent
            let description = UploadDescription(name: name, type: upload.type, size: upload.size)
            path = try await self.http.createUpload(description, access: try await self.tokens.access())
            try store(path)
        }
        try progress(offset)
        while true {
            guard self.state != .closed else { throw .closed }
            let bytes: [UInt8]
            do {
                try file.seek(toOffset: UInt64(clamping: offset))
                bytes = try Array(file.read(upToCount: self.configuration.uploadPart) ?? Data())
            } catch {
                throw ChatClientError(.notFound, message: "the file \(upload.file) cannot be read: \(error)")
            }
            let reached = try await self.http.append(bytes, at: offset, to: path, access: try await self.tokens.access())
            if let blob = reached.blob { return blob }
            guard reached.offset > offset else {
                throw ChatClientError(
                    .invalidUse,
                    message: "the file \(upload.file) ended at byte \(offset) of \(upload.size); it was changed during its upload")
            }
            offset = reached.offset
            try progress(offset)
        }
    }

    /// Returns the body with the properties that the server measured.
    private static func body(of request: SendRequest, with blob: UploadedBlob) -> JSONObject {
        var body = request.body
        body["blob"] = .string(blob.id.rawValue)
        body["size"] = .integer(blob.size)
        body["type"] = .string(blob.type)
        if request.kind == .image || request.kind == .video {
            if let width = blob.width { body["width"] = .integer(width) }
            if let height = blob.height { body["height"] = .integer(height) }
        }
        return body
    }
}

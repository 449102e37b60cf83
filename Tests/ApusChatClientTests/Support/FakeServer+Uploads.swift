import ApusChatProtocol

@testable import ApusChatClient

/// The uploads of a ``FakeServer``, and their scripted faults.
struct FakeUploads {
    struct Upload {
        var description: UploadDescription
        var bytes: Int64 = 0
        /// The offsets of the accepted parts, in the order of their arrival.
        var offsets: [Int64] = []
    }

    var all: [String: Upload] = [:]
    var removed: [String] = []
    var created = 0
    /// The number of further parts that are accepted before the next one waits; nil for no limit.
    var partsBeforeStall: Int?
    /// The errors that refuse the next parts, one each. A refused part is not stored.
    var failures: [ChatClientError] = []
    /// The number of next parts that are stored and fail with a timeout.
    var answersToLose = 0
    /// The id of the blob of each complete upload.
    var blob = String(repeating: "a", count: 64)
}

extension FakeServer {
    // MARK: Faults

    /// Accepts `parts` further parts and makes the next ones wait; nil ends the wait.
    func stallUploads(after parts: Int?) { self.locked { self.uploads.partsBeforeStall = parts } }
    func failUploads(_ errors: ChatClientError...) { self.locked { self.uploads.failures = errors } }
    func loseUploadAnswers(_ count: Int) { self.locked { self.uploads.answersToLose = count } }
    func setBlob(_ blob: String) { self.locked { self.uploads.blob = blob } }
    /// Forgets all uploads, as after their expiry.
    func expireUploads() { self.locked { self.uploads.all = [:] } }

    var removedUploads: [String] { self.locked { self.uploads.removed } }
    var createdUploads: Int { self.locked { self.uploads.created } }
    /// The offsets of the accepted parts, one array for each upload.
    var uploadOffsets: [[Int64]] { self.locked { self.uploads.all.sorted { $0.key < $1.key }.map(\.value.offsets) } }

    // MARK: Routes

    /// Returns the path of the new upload.
    func createUpload(_ upload: UploadDescription) throws(ChatClientError) -> String {
        let path = self.locked { () -> String? in
            guard self.isReachable else { return nil }
            let path = "/api/uploads/\(self.nextKey())"
            self.uploads.all[path] = FakeUploads.Upload(description: upload)
            self.uploads.created += 1
            return path
        }
        guard let path else { throw Self.unreachable }
        return path
    }

    func offset(of path: String) throws(ChatClientError) -> Int64? {
        guard self.locked({ self.isReachable }) else { throw Self.unreachable }
        return self.locked { self.uploads.all[path]?.bytes }
    }

    /// Stores a part. While parts are stalled, it waits without a time limit until the stall or the
    /// task ends.
    func append(_ count: Int64, at offset: Int64, to path: String, access: String) async throws(ChatClientError) -> UploadProgress {
        while self.locked({ self.uploads.partsBeforeStall == 0 }) {
            guard !Task.isCancelled else { throw ChatClientError(.closed, message: "cancelled") }
            await Task.yield()
        }
        return try self.locked { () -> Result<UploadProgress, ChatClientError> in
            guard self.isReachable else { return .failure(Self.unreachable) }
            guard self.accepts(access) else { return .failure(ChatClientError(server: ChatError(.unauthorized, message: "token"))) }
            if !self.uploads.failures.isEmpty { return .failure(self.uploads.failures.removeFirst()) }
            guard var upload = self.uploads.all[path] else {
                return .failure(ChatClientError(server: ChatError(.notFound, message: "There is no such upload.")))
            }
            guard offset == upload.bytes else {
                return .failure(ChatClientError(server: ChatError(.conflict, message: "The offset is \(upload.bytes).")))
            }
            upload.bytes += count
            upload.offsets.append(offset)
            self.uploads.all[path] = upload
            self.uploads.partsBeforeStall = self.uploads.partsBeforeStall.map { max(0, $0 - 1) }
            self.requests["upload", default: 0] += 1
            if self.uploads.answersToLose > 0 {
                self.uploads.answersToLose -= 1
                return .failure(ChatClientError(.timeout, message: "no answer"))
            }
            let isComplete = upload.bytes >= upload.description.size
            let blob = BlobID(self.uploads.blob).map {
                UploadedBlob(id: $0, type: upload.description.type, size: upload.bytes, width: 40, height: 30)
            }
            return .success(UploadProgress(offset: upload.bytes, blob: isComplete ? blob : nil))
        }.get()
    }

    func removeUpload(_ path: String) {
        self.locked {
            if self.uploads.all.removeValue(forKey: path) != nil { self.uploads.removed.append(path) }
        }
    }

    private static let unreachable = ChatClientError(.unreachable, message: "not reachable")
}

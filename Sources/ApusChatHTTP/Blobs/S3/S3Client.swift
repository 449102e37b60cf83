package import ApusS3
import NIOCore

/// Performs the actions of an object store. Repeats a request, as `S3Retry` decides, if the store
/// could not be reached or failed temporarily.
package struct S3Client: Sendable {
    /// The maximum size of the body of a response that is not an object, in bytes.
    private static let answerBytes = 64 << 10

    let location: S3Location
    let credentials: S3Credentials
    let transport: any S3Transport
    /// Returns the time, in milliseconds since 1970.
    let now: @Sendable () -> Int64
    let sleep: @Sendable (Duration) async throws -> Void

    package init(
        location: S3Location, credentials: S3Credentials, transport: any S3Transport, now: @escaping @Sendable () -> Int64,
        sleep: @escaping @Sendable (Duration) async throws -> Void = { try await Task.sleep(for: $0) }
    ) {
        self.location = location
        self.credentials = credentials
        self.transport = transport
        self.now = now
        self.sleep = sleep
    }

    /// Returns the size of an object; nil if it does not exist.
    func size(of key: String) async throws -> Int64? {
        do {
            return try await self.send(.head(key)).size
        } catch let error as S3Error where error.code == .missing {
            return nil
        }
    }

    /// Returns the response with the bytes of a range. Its body can be read once.
    func get(_ key: String, _ range: ClosedRange<Int64>) async throws -> S3Answer {
        let answer = try await self.send(.get(key, range))
        guard answer.status == 206 || range.lowerBound == 0, answer.size != nil else {
            throw S3Error(.malformedAnswer, message: "the object store does not support ranges")
        }
        return answer
    }

    func put(_ key: String, _ content: FilePieces) async throws {
        _ = try await self.send(.put(key, hash: try await content.hash()), body: content.body)
    }

    /// Removes an object. Does nothing if the object does not exist.
    func delete(_ key: String) async throws { _ = try await self.optional(.delete(key)) }

    // MARK: Uploads in parts

    func beginUpload(_ key: String) async throws -> String {
        try S3Completion.uploadID(in: try await self.content(of: try await self.send(.beginUpload(key))))
    }

    /// Uploads a part, and returns its entity tag.
    func upload(_ number: Int, of upload: String, _ key: String, _ content: FilePieces) async throws -> String {
        let answer = try await self.send(.part(key, upload, number: number, hash: try await content.hash()), body: content.body)
        guard let tag = answer.headers["etag"], !tag.isEmpty else {
            throw S3Error(.malformedAnswer, message: "the response to an uploaded part has no entity tag")
        }
        return tag
    }

    func completeUpload(_ key: String, _ upload: String, tags: [String]) async throws {
        let body = S3Completion.body(tags)
        let hash = try await Self.hash(body)
        var retry = S3Retry()
        while true {
            do throws(S3Error) {
                let answer = try await self.attempt(.completeUpload(key, upload, hash: hash), .bytes(body))
                return try S3Completion.check(try await self.content(of: answer))
            } catch {
                guard let delay = retry.failed(error) else { throw error }
                try await self.sleep(delay)
            }
        }
    }

    /// Removes an unfinished upload. Does nothing if the upload does not exist.
    func abortUpload(_ key: String, _ upload: String) async throws { _ = try await self.optional(.abortUpload(key, upload)) }

    // MARK: Requests

    private static func hash(_ bytes: [UInt8]) async throws -> String {
        var hash = PieceHash()
        hash.update(ByteBuffer(bytes: bytes))
        return hash.text
    }

    private func optional(_ request: S3Request) async throws -> S3Answer? {
        do {
            return try await self.send(request)
        } catch let error as S3Error where error.code == .missing && error.name != "NoSuchBucket" {
            return nil
        }
    }

    private func send(_ request: S3Request, body: S3Body = .none) async throws -> S3Answer {
        var retry = S3Retry()
        while true {
            do throws(S3Error) {
                return try await self.attempt(request, body)
            } catch {
                try Task.checkCancellation()
                guard let delay = retry.failed(error) else { throw error }
                try await self.sleep(delay)
            }
        }
    }

    /// Sends a request once. Returns a response with a successful status.
    private func attempt(_ request: S3Request, _ body: S3Body) async throws(S3Error) -> S3Answer {
        let answer: S3Answer
        do {
            answer = try await self.transport.send(request.signed(for: self.location, self.credentials, at: self.now()), body: body)
        } catch {
            throw Self.unreachable(error)
        }
        guard !(200...299).contains(answer.status) else { return answer }
        let content = try? await self.content(of: answer)
        throw S3Error(status: answer.status, body: content ?? [])
    }

    private func content(of answer: S3Answer) async throws(S3Error) -> [UInt8] {
        do {
            return Array(try await answer.body.collected(upTo: Self.answerBytes).readableBytesView)
        } catch {
            throw Self.unreachable(error)
        }
    }

    private static func unreachable(_ error: any Error) -> S3Error {
        error as? S3Error ?? S3Error(.unreachable, message: "the object store cannot be reached: \(error)")
    }
}

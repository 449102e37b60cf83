import ApusS3
import Crypto
import Foundation
import NIOConcurrencyHelpers
import NIOCore

@testable import ApusChatHTTP

/// An object store in memory, with faults.
final class MemoryS3: S3Transport {
    /// A fault of one request.
    enum Fault: Sendable {
        /// The connection fails before the store receives the request.
        case unreachable
        /// The answer is lost after the store has performed the request.
        case lostAnswer
        /// The store answers with a status and an error.
        case status(Int, String)
        /// The connection ends after a number of bytes of the body of the answer.
        case cut(after: Int)
    }

    struct State {
        var objects: [String: [UInt8]] = [:]
        var uploads: [String: [Int: [UInt8]]] = [:]
        /// The method and the names of the query of each request: `PUT partNumber uploadId`.
        var requests: [String] = []
        var count = 0
        /// Returns the fault of a request, by its description and the number of equal ones before.
        var fault: @Sendable (_ request: String, _ earlier: Int) -> Fault? = { _, _ in nil }
    }

    let state = NIOLockedValueBox(State())

    var objects: [String: [UInt8]] { self.state.withLockedValue { $0.objects } }
    var uploads: Int { self.state.withLockedValue { $0.uploads.count } }
    var requests: [String] { self.state.withLockedValue { $0.requests } }

    func fail(_ fault: @escaping @Sendable (_ request: String, _ earlier: Int) -> Fault?) {
        self.state.withLockedValue { $0.fault = fault }
    }

    func close() async {}

    func send(_ request: S3Request.Signed, body: S3Body) async throws -> S3Answer {
        let components = URLComponents(string: request.url)
        let query = (components?.queryItems ?? []).reduce(into: [:]) { $0[$1.name] = $1.value ?? "" }
        let description = ([request.method.rawValue] + query.keys.sorted()).joined(separator: " ")
        let fault = self.state.withLockedValue { state in
            let earlier = state.requests.count { $0 == description }
            state.requests.append(description)
            return state.fault(description, earlier)
        }
        switch fault {
        case .unreachable: throw ChannelError.ioOnClosedChannel
        case .status(let status, let name): return Self.answer(status, "<Error><Code>\(name)</Code></Error>")
        case .lostAnswer, .cut, nil: break
        }
        let bytes = try await Self.bytes(of: body)
        let hash = request.headers.first { $0.name == "x-amz-content-sha256" }?.value
        guard hash == Secrets.hex(SHA256.hash(data: bytes)) else { return Self.answer(400, "<Error><Code>BadDigest</Code></Error>") }
        var answer = self.state.withLockedValue { state in
            Self.perform(request, key: components?.path ?? "", query: query, bytes, &state)
        }
        if case .lostAnswer = fault { throw ChannelError.inputClosed }
        if case .cut(let count) = fault { answer.body = Self.cut(answer.body, after: count) }
        return answer
    }

    private static func bytes(of body: S3Body) async throws -> [UInt8] {
        switch body {
        case .none: return []
        case .bytes(let bytes): return bytes
        case .stream(let stream, let size):
            let bytes = Array(try await stream.collected(upTo: Int(size) + 1).readableBytesView)
            guard bytes.count == Int(size) else { throw ChannelError.eof }
            return bytes
        }
    }

    private static func perform(
        _ request: S3Request.Signed, key: String, query: [String: String], _ bytes: [UInt8], _ state: inout State
    ) -> S3Answer {
        let upload = query["uploadId"]
        if let upload, state.uploads[upload] == nil { return self.answer(404, "<Error><Code>NoSuchUpload</Code></Error>") }
        switch (request.method, upload) {
        case (.post, nil):
            state.count += 1
            state.uploads["u\(state.count)"] = [:]
            return self.answer(
                200, "<InitiateMultipartUploadResult><UploadId>u\(state.count)</UploadId></InitiateMultipartUploadResult>")
        case (.put, let upload?):
            guard let number = query["partNumber"].flatMap({ Int($0) }) else { return self.answer(400, "") }
            state.uploads[upload]?[number] = bytes
            return self.answer(200, "", ["etag": "\"tag\(number)\""])
        case (.post, let upload?):
            let parts = (state.uploads.removeValue(forKey: upload) ?? [:]).sorted { $0.key < $1.key }
            let expected = S3Completion.body(parts.map { "\"tag\($0.key)\"" })
            guard bytes == expected, parts.dropLast().allSatisfy({ $0.value.count >= S3PartPlan.minimumBytes }) else {
                return self.answer(400, "<Error><Code>InvalidPart</Code></Error>")
            }
            state.objects[key] = parts.flatMap(\.value)
            return self.answer(200, "<CompleteMultipartUploadResult/>")
        case (.delete, let upload?):
            state.uploads[upload] = nil
            return self.answer(204, "")
        case (.put, nil):
            state.objects[key] = bytes
            return self.answer(200, "", ["etag": "\"tag\""])
        case (.delete, nil):
            state.objects[key] = nil
            return self.answer(204, "")
        case (.head, _):
            guard let object = state.objects[key] else { return self.answer(404, "") }
            return S3Answer(status: 200, headers: ["content-length": String(object.count)], body: BlobBytes(ByteBuffer()))
        case (.get, _): return self.range(of: state.objects[key], request.headers.first { $0.name == "range" }?.value ?? "")
        }
    }

    private static func range(of object: [UInt8]?, _ field: String) -> S3Answer {
        guard let object else { return self.answer(404, "<Error><Code>NoSuchKey</Code></Error>") }
        guard case .part(let range) = ByteRange(field, size: Int64(object.count)) else { return self.answer(416, "") }
        let bytes = ByteBuffer(bytes: object[Int(range.lowerBound)...Int(range.upperBound)])
        return S3Answer(status: 206, headers: ["content-length": String(bytes.readableBytes)], body: BlobBytes(bytes))
    }

    private static func answer(_ status: Int, _ text: String, _ headers: [String: String] = [:]) -> S3Answer {
        S3Answer(
            status: status, headers: headers.merging(["content-length": String(text.utf8.count)]) { $1 },
            body: BlobBytes(ByteBuffer(string: text)))
    }

    private static func cut(_ body: BlobBytes, after count: Int) -> BlobBytes {
        BlobBytes {
            var isFirst = true
            return {
                defer { isFirst = false }
                guard isFirst else { throw ChannelError.inputClosed }
                return try await body.collected(upTo: count)
            }
        }
    }
}

import ApusChatProtocol
import ApusJSON
import Foundation
import Testing

@testable import ApusChatClient

/// Requests and uploads of the client at a server whose answers are unusual, wrong or hostile.
@Suite("Answers over HTTP", .timeLimit(.minutes(5)))
struct LiveAnswerTests {
    private static func answer(_ status: Int = 200, _ fields: [String] = [], length: Int = 0) -> String {
        (["HTTP/1.1 \(status) X", "Connection: close", "Content-Length: \(length)"] + fields).joined(separator: "\r\n") + "\r\n\r\n"
    }

    private func post(_ text: String, status: Int = 200, access: String? = nil) async throws -> (JSONValue?, ChatClientError?, String) {
        var result: (JSONValue?, ChatClientError?, String) = (nil, nil, "")
        try await withAnswer(Self.answer(status, length: text.utf8.count), Array(text.utf8)) { world in
            do throws(ChatClientError) {
                result.0 = try await world.client.post("/api/login", ["name": "é\"\n"], access: access)
            } catch {
                result.1 = error
            }
            result.2 = world.received.first ?? ""
        }
        return result
    }

    // MARK: Requests

    @Test func aRequestIsJSONWithItsToken() async throws {
        let (answer, error, received) = try await self.post(#"{"a":[1,"é\ud83d"]}"#, access: "t1")
        #expect(error == nil && answer == ["a": [1, "é\u{FFFD}"]], "half an emoji is replaced")
        let lines = received.components(separatedBy: "\r\n")
        #expect(lines.first == "POST /api/login HTTP/1.1")
        #expect(lines.contains { $0.lowercased() == "content-type: application/json" })
        #expect(lines.contains { $0.lowercased() == "authorization: bearer t1" })
        #expect(try JSONReader.read(Array((lines.last ?? "").utf8)) == ["name": "é\"\n"])
        let anonymous = try await self.post("{}").2
        #expect(!anonymous.lowercased().contains("authorization"))
    }

    @Test(arguments: ["", " ", "{", "<!doctype html>", "null x", "{\"a\":1,}", "\u{FEFF}{}"])
    func anAnswerThatIsNotJSONIsABadAnswer(text: String) async throws {
        let (_, error, _) = try await self.post(text)
        #expect(error?.code == .badAnswer && error?.message.contains("/api/login") == true)
    }

    /// The body of an error response determines the code. The status determines it if the body is
    /// not an error of the server.
    @Test(
        arguments: [
            (400, #"{"error":{"code":"bad_request","message":"M","field":"name"}}"#, .refused),
            (401, #"{"error":{"code":"unauthorized","message":"M"}}"#, .signedOut),
            (404, #"{"error":{"code":"not_found","message":"M"}}"#, .notFound),
            (429, #"{"error":{"code":"too_many","message":"M","retry_after":5}}"#, .refused),
            (503, #"{"error":{"code":"storage","message":"M"}}"#, .refused), (418, #"{"error":{"code":"teapot"}}"#, .refused),
            (401, "", .signedOut), (404, "", .notFound), (410, "gone", .notFound), (500, "<html>", .unreachable), (502, "", .unreachable),
            (503, "{}", .unreachable), (599, "[]", .unreachable), (400, "", .badAnswer), (403, "{}", .badAnswer), (405, "", .badAnswer),
            (300, "", .badAnswer), (302, "", .badAnswer), (304, "", .badAnswer),
        ] as [(Int, String, ChatClientError.Code)])
    func aRefusalHasItsCode(status: Int, text: String, code: ChatClientError.Code) async throws {
        let (_, error, _) = try await self.post(text, status: status)
        #expect(error?.code == code, "\(status): \(error.map(String.init(describing:)) ?? "none")")
        if text.contains("\"message\":\"M\"") { #expect(error?.message == "M" && error?.serverError != nil) }
    }

    @Test(arguments: [
        "SSH-2.0-OpenSSH_9.9\r\n", "HTTP/1.1 abc\r\n\r\n", "\u{0}\u{1}\u{2}\r\n\r\n", "HTTP/1.1 200 OK\r\nContent-Length: x\r\n\r\n",
    ])
    func aServerOfAnotherProtocolIsNotAChat(answer: String) async throws {
        try await withAnswer(answer) { world in
            let code = await codeOfError { _ = try await world.client.post("/api/login", [:], access: nil) }
            #expect(code == .badAnswer || code == .unreachable)
        }
    }

    // MARK: Uploads

    /// The bytes are sent to the server of the account only.
    @Test(
        arguments: [
            ("Location: /api/uploads/u1", "", "/api/uploads/u1"),
            ("Location: http://127.0.0.1:{port}/api/uploads/u1", "", "/api/uploads/u1"),
            ("Location: /base/api/uploads/u1", "/base", "/api/uploads/u1"),
            ("Location: http://127.0.0.1:{port}/base/api/uploads/u1", "/base", "/api/uploads/u1"),
            ("Location: //evil.example/api/uploads/u1", "", nil), ("Location: http://evil.example/u1", "", nil),
            ("Location: https://127.0.0.1:{port}/u1", "", nil), ("Location: http://127.0.0.1:{port}.evil.example/u1", "", nil),
            ("Location: http://127.0.0.1:{port}@evil.example/u1", "", nil), ("Location: ftp://127.0.0.1/u1", "", nil),
            ("Location: u1", "", nil), ("Location:", "", nil), ("X-Other: /api/uploads/u1", "", nil),
        ] as [(String, String, String?)])
    func anUploadIsOnItsServer(field: String, base: String, path: String?) async throws {
        try await withAnswer(Self.answer(201, [field]), base: base) { world in
            let description = UploadDescription(name: "图\r\nX: y,é", type: "image/png", size: 12)
            let found = try? await world.client.createUpload(description, access: "t1")
            #expect(found == path)
            let lines = (world.received.first ?? "").components(separatedBy: "\r\n")
            #expect(lines.first == "POST \(base)/api/uploads HTTP/1.1")
            #expect(
                lines.contains { $0.lowercased() == "upload-length: 12" } && lines.contains { $0.lowercased() == "tus-resumable: 1.0.0" })
            // The name is encoded, and adds no field.
            let name = Data("图\r\nX: y,é".utf8).base64EncodedString()
            let type = Data("image/png".utf8).base64EncodedString()
            #expect(lines.contains { $0.lowercased().hasPrefix("upload-metadata:") && $0.hasSuffix("type \(type),name \(name)") })
            #expect(!lines.contains { $0.hasPrefix("X:") })
        }
    }

    @Test(
        arguments: [
            (200, ["Upload-Offset: 0"], 0, nil), (200, ["Upload-Offset: 9223372036854775807"], .max, nil),
            (204, ["upload-offset: 7"], 7, nil),
            (404, [], nil, nil), (410, [], nil, nil), (200, [], nil, .badAnswer), (200, ["Upload-Offset: "], nil, .badAnswer),
            (200, ["Upload-Offset: -1"], nil, .badAnswer), (200, ["Upload-Offset: 1.5"], nil, .badAnswer),
            (200, ["Upload-Offset: 9223372036854775808"], nil, .badAnswer), (200, ["Upload-Offset: 7x"], nil, .badAnswer),
            (401, [], nil, .signedOut), (500, [], nil, .unreachable), (412, [], nil, .badAnswer),
        ] as [(Int, [String], Int64?, ChatClientError.Code?)])
    func anOffsetIsANumberOfBytes(status: Int, fields: [String], offset: Int64?, code: ChatClientError.Code?) async throws {
        try await withAnswer(Self.answer(status, fields)) { world in
            var found: Int64?
            let error = await codeOfError { found = try await world.client.uploadOffset("/api/uploads/u1", access: "t1") }
            #expect(error == code && found == offset)
            #expect(world.received.first?.hasPrefix("HEAD /api/uploads/u1 HTTP/1.1\r\n") == true)
        }
    }

    private static let blob = String(repeating: "0f", count: 32)

    /// The server describes the blob after the last byte. A damaged description is that of an
    /// unfinished upload or of an unknown value.
    @Test(
        arguments: [
            (["Upload-Offset: 3"], nil), (["Upload-Offset: 3", "Chat-Blob: x"], nil),
            (["Upload-Offset: 3", "Chat-Blob: \(blob.uppercased())"], nil),
            (["Upload-Offset: 3", "Chat-Blob: \(blob)"], ("application/octet-stream", 3, nil)),
            (["Upload-Offset: 3", "Chat-Blob: \(blob)", "Chat-Type: image/png", "Chat-Size: 9", "Chat-Width: 4"], ("image/png", 9, 4)),
            (["Upload-Offset: 3", "Chat-Blob: \(blob)", "Chat-Size: many", "Chat-Width: wide"], ("application/octet-stream", 3, nil)),
        ] as [([String], (String, Int64, Int64?)?)])
    func theLastPartDescribesTheBlob(fields: [String], expected: (String, Int64, Int64?)?) async throws {
        try await withAnswer(Self.answer(204, fields)) { world in
            let progress = try await world.client.append([1, 2, 3], at: 0, to: "/api/uploads/u1", access: "t1")
            #expect(progress.offset == 3 && (progress.blob == nil) == (expected == nil))
            #expect(progress.blob?.type == expected?.0 && progress.blob?.size == expected?.1 && progress.blob?.width == expected?.2)
            let head = world.received.first?.lowercased() ?? ""
            #expect(head.hasPrefix("patch /api/uploads/u1 http/1.1\r\n") && head.contains("upload-offset: 0\r\n"))
            #expect(head.contains("content-type: application/offset+octet-stream\r\n") && head.contains("content-length: 3\r\n"))
        }
    }
}

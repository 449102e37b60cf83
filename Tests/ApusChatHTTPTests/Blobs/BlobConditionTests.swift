import ApusChatProtocol
import ApusChatStorage
import HTTPTypes
import HummingbirdTesting
import NIOCore
import Testing

@testable import ApusChatHTTP

/// Conditions, ranges and methods of a request for a file.
@Suite("Requests for a file")
struct BlobConditionTests {
    private static let content = "0123456789"

    /// Runs `body` with a client, a token and the path of a file of ten bytes.
    private func withFile(_ body: @escaping @Sendable (TestRequests, String, String) async throws -> Void) async throws {
        try await TestServer().run { (client: TestRequests) async throws in
            let token = try await client.token("alice")
            let blob = try #require(try await client.upload(Array(Self.content.utf8), token: token).headers[.chatBlob])
            try await body(client, token, "/api/blobs/" + blob)
        }
    }

    private static func tag(_ path: String) -> String { "\"" + path.dropFirst("/api/blobs/".count) + "\"" }

    /// RFC 9110 section 14.2: a range is defined for GET only.
    @Test(arguments: ["bytes=0-0", "bytes=-3", "bytes=99-", "bytes=5-2"]) func aHEADRequestIgnoresARange(range: String) async throws {
        try await self.withFile { client, token, path in
            let response = try await client.send(.head, path, token: token, headers: [.range: range])
            #expect(response.status == .ok && response.headers[.contentRange] == nil && response.body.readableBytes == 0)
            #expect(response.headers[.contentLength] == "10" && response.headers[.acceptRanges] == "bytes")
        }
    }

    /// A HEAD request has the fields of the GET request (RFC 9110 section 9.3.2).
    @Test func aHEADRequestHasTheFieldsOfTheFile() async throws {
        try await self.withFile { client, token, path in
            let (head, get) = (try await client.send(.head, path, token: token), try await client.send(.get, path, token: token))
            for name in [.contentType, .contentLength, .eTag, .cacheControl, .acceptRanges, .contentDisposition, .contentSecurityPolicy]
                as [HTTPField.Name]
            { #expect(head.headers[name] == get.headers[name] && get.headers[name] != nil, "\(name)") }
            let unchanged = try await client.send(.head, path, token: token, headers: [.ifNoneMatch: Self.tag(path)])
            #expect(unchanged.status == .notModified)
        }
    }

    /// RFC 9110 section 13.2.2: the tag is compared before a range.
    @Test func anUnchangedFileIsNotRead() async throws {
        try await self.withFile { client, token, path in
            let tag = Self.tag(path)
            for range in ["bytes=0-0", "bytes=99-", "x"] {
                let response = try await client.send(.get, path, token: token, headers: [.ifNoneMatch: tag, .range: range])
                #expect(response.status == .notModified && response.body.readableBytes == 0 && response.headers[.contentRange] == nil)
            }
        }
    }

    @Test(
        arguments: [
            ("\"x\"", 200, "0123456789"), ("W/TAG", 200, "0123456789"), ("TAG", 206, "23"), ("", 200, "0123456789"),
            ("TAG, \"x\"", 200, "0123456789"), ("Thu, 01 Jan 1970 00:00:00 GMT", 200, "0123456789"),
        ])
    func aRangeOfAnotherFileIsTheWholeFile(condition: String, status: Int, body: String) async throws {
        try await self.withFile { client, token, path in
            let condition = condition.replacing("TAG", with: Self.tag(path))
            let response = try await client.send(.get, path, token: token, headers: [.range: "bytes=2-3", .ifRange: condition])
            #expect(response.status.code == status && response.body == ByteBuffer(string: body))
        }
    }

    /// A range that selects nothing is an error only if its condition holds.
    @Test func aRangeWithoutBytesIsRefusedForTheSameFileOnly() async throws {
        try await self.withFile { client, token, path in
            let same = try await client.send(.get, path, token: token, headers: [.range: "bytes=10-", .ifRange: Self.tag(path)])
            #expect(same.status == .rangeNotSatisfiable && same.headers[.contentRange] == "bytes */10")
            let other = try await client.send(.get, path, token: token, headers: [.range: "bytes=10-", .ifRange: "\"x\""])
            #expect(other.status == .ok && other.body == ByteBuffer(string: Self.content))
        }
    }

    /// A file is private: shared caches must not keep it, nor its refusals.
    @Test func eachAnswerIsPrivate() async throws {
        try await self.withFile { client, token, path in
            for headers in [[:], [.range: "bytes=1-2"], [.ifNoneMatch: "*"]] as [HTTPFields] {
                #expect(
                    try await client.send(.get, path, token: token, headers: headers).headers[.cacheControl]?.hasPrefix("private") == true)
            }
            #expect(try await client.send(.get, path).headers[.cacheControl] == "no-store")
            let refused = try await client.send(.get, path, token: token, headers: [.range: "bytes=10-"])
            #expect(refused.headers[.cacheControl] == "no-store")
        }
    }

    /// The number of running downloads is bounded for each user, and a place is given back.
    @Test func aUserHasAMaximumOfDownloads() async throws {
        let server = try TestServer()
        var places: [BlobFiles.Place] = []
        while let place = server.files.place(for: "alice") { places.append(place) }
        #expect(places.count == 64 && server.files.place(for: "bobby") != nil)
        places.removeLast()
        let again = server.files.place(for: "alice")
        #expect(again != nil && server.files.place(for: "alice") == nil)
    }

    @Test func theDownloadsOfAllUsersAreBounded() async throws {
        let server = try TestServer()
        var places: [BlobFiles.Place] = []
        for number in 0..<16 { while let place = server.files.place(for: "user\(number)") { places.append(place) } }
        #expect(places.count == 1_024 && server.files.place(for: "other") == nil)
        places = []
        #expect(server.files.place(for: "other") != nil)
    }

    /// A user with the maximum of downloads is refused with a time, and gets files afterwards.
    @Test func aDownloadAboveTheMaximumIsRefused() async throws {
        let server = try TestServer()
        try await server.run { (client: TestRequests) async throws in
            let token = try await client.token("alice")
            let user = try await server.test.accounts.session(access: token).user
            let path = "/api/blobs/" + (try await client.upload([1, 2], token: token).headers[.chatBlob] ?? "")
            var places: [BlobFiles.Place] = []
            while let place = server.files.place(for: String(user.rawValue)) { places.append(place) }
            let refused = try await client.send(.get, path, token: token)
            #expect(refused.status == .tooManyRequests && refused.headers[.retryAfter] == "1")
            // A request that needs no bytes needs no place.
            #expect(try await client.send(.get, path, token: token, headers: [.ifNoneMatch: "*"]).status == .notModified)
            places = []
            #expect(try await client.send(.get, path, token: token).status == .ok)
        }
    }
}

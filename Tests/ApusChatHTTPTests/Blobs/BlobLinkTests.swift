import ApusChatProtocol
import ApusJSON
import HTTPTypes
import HummingbirdTesting
import NIOCore
import Testing

@testable import ApusChatHTTP

/// Links to blobs that need no session. `Conformance/test_chat_links.py` tests the links of the
/// members of a group.
@Suite struct BlobLinkTests {
    private static func link(_ client: TestRequests, _ blob: String, _ token: String, query: String = "") async throws -> String {
        let response = try await client.post("/api/blobs/\(blob)/link" + query, [:], token: token)
        #expect(response.status == .ok)
        #expect(try response.json()["expires_at"]?.intValue != nil)
        return try response.json()["path"]?.stringValue ?? ""
    }

    @Test func aLinkNeedsNoSession() async throws {
        try await TestServer().run { (client: TestRequests) async throws in
            let token = try await client.token("alice")
            let blob = try await client.upload(Array("0123456789".utf8), token: token).headers[.chatBlob] ?? ""
            let path = try await Self.link(client, blob, token)
            let all = try await client.send(.get, path)
            #expect(all.status == .ok && String(buffer: all.body) == "0123456789")
            #expect(all.headers[.cacheControl] == "private, no-cache")
            let part = try await client.send(.get, path, headers: [.range: "bytes=3-5"])
            #expect(part.status == .partialContent && String(buffer: part.body) == "345")
            #expect(try await client.send(.head, path).status == .ok)
            // The client can validate a stored answer with its entity tag.
            let tag = try #require(all.headers[.eTag])
            #expect(try await client.send(.get, path, headers: [.ifNoneMatch: tag]).status == .notModified)
        }
    }

    @Test func aLinkEndsAfterItsTime() async throws {
        // A link is valid as long as an access token.
        let lifetime: Int64 = 7_000_000
        let server = try TestServer { $0.accessLifetime = lifetime }
        try await server.run { (client: TestRequests) async throws in
            let token = try await client.token("alice")
            let blob = try await client.upload([1], token: token).headers[.chatBlob] ?? ""
            let path = try await Self.link(client, blob, token)
            server.test.wait(lifetime - 1)
            #expect(try await client.send(.get, path).status == .ok)
            server.test.wait(1)
            let expired = try await client.send(.get, path)
            #expect(try expired.status == .unauthorized && expired.error().code == .unauthorized)
            // A session does not replace the signature of an expired link.
            let again = try await client.post(
                "/api/login", .object(["name": "alice", "password": "correct horse", "device": TestRequests.device])
            ).session().access
            #expect(try await client.send(.get, path, token: again).status == .unauthorized)
        }
    }

    @Test func aForgedLinkIsRefused() async throws {
        try await TestServer().run { (client: TestRequests) async throws in
            let (alice, bob) = (try await client.token("alice"), try await client.token("bobby"))
            let blob = try await client.upload([1], token: alice).headers[.chatBlob] ?? ""
            let other = try await client.upload([2], token: alice).headers[.chatBlob] ?? ""
            let path = try await Self.link(client, blob, alice)
            let signed = String(try #require(path.split(separator: "=").last))
            // A link is bound to its blob.
            #expect(try await client.send(.get, "/api/blobs/\(other)?signed=\(signed)").status == .unauthorized)
            var bytes = Array(signed.utf8)
            for index in [2, 20, 40, bytes.count - 2] {
                let byte = bytes[index]
                bytes[index] = byte == UInt8(ascii: "A") ? UInt8(ascii: "B") : UInt8(ascii: "A")
                let changed = String(decoding: bytes, as: UTF8.self)
                #expect(try await client.send(.get, "/api/blobs/\(blob)?signed=\(changed)").status == .unauthorized)
                bytes[index] = byte
            }
            for text in [
                "", "b.", "b.AAAA", alice, String(signed.dropLast()), "a" + signed.dropFirst(), String(repeating: "b", count: 5_000),
            ] {
                #expect(try await client.send(.get, "/api/blobs/\(blob)?signed=\(text)").status == .unauthorized, "\(text)")
            }
            // A link gives access only to its blob, and a user without access cannot create one.
            #expect(try await client.send(.get, "/api/sessions", token: signed).status == .unauthorized)
            #expect(try await client.post("/api/blobs/\(blob)/link", [:], token: bob).status == .notFound)
            #expect(try await client.post("/api/blobs/\(blob)/link", [:]).status == .unauthorized)
            #expect(try await client.post("/api/blobs/x/link", [:], token: alice).status == .notFound)
            #expect(try await client.send(.get, "/api/blobs/x?signed=\(signed)").status == .notFound)
        }
    }

    /// A link of a user who cannot read the blob, signed with the key of the server.
    @Test func theRightsOfALinkAreTheRightsOfItsUser() async throws {
        let server = try TestServer()
        try await server.run { (client: TestRequests) async throws in
            let (alice, bob) = (try await client.token("alice"), try await client.token("bobby"))
            let blob = try #require(try await client.upload([1], token: alice).headers[.chatBlob].flatMap { BlobID($0) })
            let accounts = server.test.accounts
            let link = accounts.link(to: blob, of: try await accounts.session(access: bob))
            let path = "/api/blobs/\(blob)?signed=" + accounts.tokens.text(of: link, to: blob)
            #expect(try await client.send(.get, path).status == .notFound)
            // The session of the requesting user does not change the result.
            #expect(try await client.send(.get, path, token: alice).status == .notFound)
        }
    }

    @Test func aLinkEndsWithTheSessionOfItsDevice() async throws {
        try await TestServer().run { (client: TestRequests) async throws in
            let token = try await client.token("alice")
            let blob = try await client.upload([1], token: token).headers[.chatBlob] ?? ""
            let path = try await Self.link(client, blob, token)
            #expect(try await client.send(.get, path).status == .ok)
            _ = try await client.post("/api/logout", [:], token: token)
            #expect(try await client.send(.get, path).status == .unauthorized)
        }
    }

    @Test func aLinkHasTheKnownParametersOfItsRequest() async throws {
        try await TestServer().run { (client: TestRequests) async throws in
            let token = try await client.token("alice")
            let blob = try await client.upload([1], token: token).headers[.chatBlob] ?? ""
            let path = try await Self.link(client, blob, token, query: "?user=alice&x=1&signed=b&size=300")
            #expect(path.hasPrefix("/api/blobs/\(blob)?user=alice&size=300&signed=b."))
            #expect(try await client.post("/api/blobs/\(blob)/link?size=0", [:], token: token).status == .badRequest)
        }
    }
}

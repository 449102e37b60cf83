import ApusChatProtocol
import ApusChatStorage
import ApusJSON
import HTTPTypes
import HummingbirdTesting
import NIOCore
import Testing

@testable import ApusChatHTTP

/// Every route with a session that has ended, and with the objects of another user.
@Suite("Routes and sessions")
struct RouteSessionTests {
    private static let tus: HTTPFields = [.tusResumable: "1.0.0"]
    private static let routes = RouteMatrixTests.routes.filter(\.needsSession)

    /// Checks that no route answers a request with a token.
    private func expectRefused(_ token: String, _ client: TestRequests, _ reason: String) async throws {
        for route in Self.routes {
            let response = try await client.send(route.method, route.path, token: token, headers: Self.tus)
            #expect(response.status == .unauthorized, "\(route.testDescription) \(reason)")
            if route.method != .head { #expect(try response.error().code == .unauthorized, "\(route.testDescription) \(reason)") }
            #expect(response.headers[.cacheControl] == "no-store", "\(route.testDescription) \(reason)")
        }
    }

    private static func login(_ client: TestRequests, _ name: String = "alice") async throws -> SessionAnswer {
        let body: JSONValue = .object(["name": .string(name), "password": "correct horse", "device": TestRequests.device])
        return try await client.post("/api/login", body).session()
    }

    /// An access token is valid for 15 minutes (docs/chat-wire.md, HTTP), at each route.
    @Test func anExpiredTokenOpensNoRoute() async throws {
        let server = try TestServer()
        try await server.run { (client: TestRequests) async throws in
            let session = try await client.register("alice").session()
            server.test.wait(15 * 60_000 - 1)
            #expect(try await client.send(.get, "/api/sessions", token: session.access).status == .ok)
            server.test.wait(1)
            try await self.expectRefused(session.access, client, "after 15 minutes")
            // The session itself continues, and its new token opens the routes.
            let renewed = try await client.post("/api/refresh", .object(["refresh": .string(session.refresh)])).session()
            #expect(renewed.device == session.device)
            #expect(try await client.send(.get, "/api/sessions", token: renewed.access).status == .ok)
            try await self.expectRefused(session.access, client, "after the renewal")
        }
    }

    @Test func aTokenOfAnEndedSessionOpensNoRoute() async throws {
        let server = try TestServer()
        try await server.run { (client: TestRequests) async throws in
            let first = try await client.register("alice").session()
            let second = try await Self.login(client)
            let third = try await Self.login(client)
            // The sessions are ended by another device, by their own device, and by an operator.
            let path = "/api/sessions/" + first.device.rawValue
            #expect(try await client.send(.delete, path, token: third.access).status == .ok)
            try await self.expectRefused(first.access, client, "of a removed device")
            #expect(try await client.post("/api/logout", [:], token: second.access).status == .ok)
            try await self.expectRefused(second.access, client, "after a logout")
            #expect(try await server.test.accounts.endSessions(of: UserName(prepared: "alice"), device: nil) == 1)
            try await self.expectRefused(third.access, client, "ended by an operator")
            for session in [first, second, third] {
                let refused = try await client.post("/api/refresh", .object(["refresh": .string(session.refresh)]))
                #expect(refused.status == .unauthorized)
            }
            // The user can sign in again.
            let last = try await Self.login(client)
            #expect(try await client.send(.get, "/api/sessions", token: last.access).status == .ok)
        }
    }

    @Test func aTokenOfAClosedAccountOpensNoRoute() async throws {
        let server = try TestServer()
        try await server.run { (client: TestRequests) async throws in
            let alice = try await client.register("alice").session()
            let bob = try await client.register("bobby").session()
            _ = try await server.test.accounts.setSuspended(true, UserName(prepared: "alice"))
            try await self.expectRefused(alice.access, client, "of a suspended account")
            let body: JSONValue = .object(["name": "alice", "password": "correct horse", "device": TestRequests.device])
            #expect(try await client.post("/api/login", body).status != .ok)
            _ = try await server.test.accounts.setSuspended(false, UserName(prepared: "alice"))
            try await self.expectRefused(alice.access, client, "from before the suspension")
            #expect(try await client.post("/api/login", body).status == .ok)
            let deletion: JSONValue = .object(["password": "correct horse"])
            #expect(try await client.post("/api/account/delete", deletion, token: bob.access).status == .ok)
            try await self.expectRefused(bob.access, client, "of a deleted account")
        }
    }

    /// A new password ends the sessions of the other devices, and the old token of its own.
    @Test func aTokenFromBeforeANewPasswordOpensNoRoute() async throws {
        try await TestServer().run { (client: TestRequests) async throws in
            let other = try await client.register("alice").session()
            let own = try await Self.login(client)
            let body: JSONValue = .object(["old": "correct horse", "new": "battery staple", "device": TestRequests.device])
            let changed = try await client.post("/api/password", body, token: own.access).session()
            try await self.expectRefused(other.access, client, "of another device")
            #expect(try await client.send(.get, "/api/sessions", token: changed.access).status == .ok)
        }
    }

    // MARK: Objects of another user

    /// Every object of alice by its path, requested by bob: it is not found, and stays as it was.
    @Test func objectsOfAnotherUserAreNotFound() async throws {
        let server = try TestServer()
        try await server.run { (client: TestRequests) async throws in
            let alice = try await client.register("alice").session()
            let bob = try await client.token("bobby")
            let upload = try await client.beginUpload(of: 3, token: alice.access)
            let blob = "/api/blobs/" + (try await client.upload([1, 2, 3], token: alice.access).headers[.chatBlob] ?? "")
            let requests: [(HTTPRequest.Method, String)] = [
                (.head, upload), (.patch, upload), (.delete, upload), (.get, blob), (.head, blob), (.post, blob + "/link"),
                (.get, blob + "?size=thumbnail"), (.get, blob + "?user=alice"), (.get, blob + "?conv=0000000000001"),
                (.get, blob + "?link=k7Qm2ZtX9bVw4NsA"), (.delete, "/api/sessions/" + alice.device.rawValue),
            ]
            let headers: HTTPFields = [.tusResumable: "1.0.0", .uploadOffset: "0", .contentType: "application/offset+octet-stream"]
            for (method, path) in requests {
                let response = try await client.send(method, path, token: bob, headers: headers, body: ByteBuffer(bytes: [9]))
                #expect(response.status == .notFound, "\(method) \(path): \(response.status)")
                // The answer is that for an object that does not exist.
                guard method != .head else { continue }
                #expect(try response.error().code == .notFound, "\(method) \(path)")
                #expect(!String(buffer: response.body).contains("alice"), "\(method) \(path)")
            }
            #expect(try await client.patch(upload, at: 0, [7, 8, 9], token: alice.access).headers[.uploadOffset] == "3")
            #expect(try await client.send(.get, blob, token: alice.access).body == ByteBuffer(bytes: [1, 2, 3]))
            #expect(try await client.send(.get, "/api/sessions", token: alice.access).status == .ok)
        }
    }

    /// Texts that are not ids, at every place of a path.
    @Test(arguments: [
        "x", "..", "%2e%2e", "%2F", "%00", "0000000000000", "8000000000000", "2D3E4V5C6E7A8", String(repeating: "0", count: 64),
        String(repeating: "F", count: 64), String(repeating: "a", count: 4_000), "%F0%9F%90%A6", "'%20OR%201=1", "*",
    ])
    func textsThatAreNotIdsAreNotFound(text: String) async throws {
        try await TestServer().run { (client: TestRequests) async throws in
            let token = try await client.token("alice")
            for (method, path) in [
                (.delete, "/api/sessions/"), (.head, "/api/uploads/"), (.patch, "/api/uploads/"), (.delete, "/api/uploads/"),
                (.get, "/api/blobs/"), (.head, "/api/blobs/"),
            ] as [(HTTPRequest.Method, String)] {
                let headers: HTTPFields = [.tusResumable: "1.0.0", .uploadOffset: "0", .contentType: "application/offset+octet-stream"]
                let response = try await client.send(method, path + text, token: token, headers: headers)
                #expect([400, 404].contains(response.status.code), "\(method) \(path): \(response.status)")
            }
            #expect(try await client.send(.get, "/api/sessions", token: token).status == .ok)
        }
    }
}

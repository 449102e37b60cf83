import ApusChatProtocol
import ApusJSON
import Foundation
import Testing

@testable import ApusChatServer

/// The HTTP routes of the legacy protocol, through a whole server.
@Suite("Routes of the legacy protocol")
struct LegacyRouteTests {
    private static let json = "application/json"

    private func register(_ server: RealServer, _ name: String, _ more: String = "", from address: String = "192.0.2.1") async throws
        -> JSONValue
    {
        try await server.legacy("/register", "userName=\(name)&password=\(RealServer.legacyPassword)\(more)", from: address)
    }

    private func upload(_ server: RealServer, _ content: String, type: String = "multipart/form-data; boundary=x1", from address: String)
        async throws -> JSONValue
    {
        let body = "--x1\r\nContent-Disposition: form-data; name=\"image\"; filename=\"a\"\r\n\r\n\(content)\r\n--x1--\r\n"
        return try await server.legacy("/uploadFiles", body, type: type, from: address)
    }

    // MARK: Accounts

    @Test func anAccountSignsInByAFormOrJSON() async throws {
        try await RealServer.withLegacy { server in
            let registered = try await self.register(server, "alice")
            #expect(registered["code"] == 1 && registered["message"] == "ok")
            #expect(registered["data"]?["auth_date"] == 1_790_000_000_000)
            let form = try await server.legacy(
                "/mobileLogin", "userName=alice&password=\(RealServer.legacyPassword)", from: "192.0.2.1")
            let object = try await server.legacy(
                "/mobileLogin", #"{"userName":"ALICE","password":"\#(RealServer.password)"}"#, type: Self.json, from: "192.0.2.1")
            let tokens = [registered, form, object].compactMap { $0["data"]?["auth_token"]?.stringValue }
            #expect(Set(tokens).count == 3, "each sign-in is a session of its own")
            // The tokens are of no use at the other listener.
            for token in tokens {
                let answer = try await server.http.get("/api/sessions", RealServer.fields("192.0.2.1", token: token))
                #expect(answer.status == 401)
            }
        }
    }

    @Test(
        arguments: [
            ("/register", "userName=abc&password=correct+horse", "userName"),
            ("/register", "userName=_alice&password=correct+horse", "userName"),
            ("/register", "userName=abcdefghijklmnop&password=correct+horse", "userName"),
            ("/register", "userName=%E7%88%B1%E4%B8%BD%E4%B8%9D%E7%88%B1&password=correct+horse", "userName"),
            ("/register", "userName=alice&password=short", "password"), ("/register", "userName=alice", "password"),
            ("/register", "", "userName"),
            ("/register", "userName=taken&password=correct+horse", "name"),
            ("/mobileLogin", "userName=taken&password=wrong+horse", "wrong"),
            ("/mobileLogin", "userName=nobody&password=wrong+horse", "wrong"), ("/mobileLogin", "userName=taken", "password"),
            ("/mobileLogin", "", "name"), ("/mobileLogin", "userName=a%20b&password=x", "name"),
        ])
    func aRefusalIsAnEnvelopeWithTheCodeMinusOne(path: String, form: String, part: String) async throws {
        try await RealServer.withLegacy { server in
            #expect(try await self.register(server, "taken")["code"] == 1)
            let refused = try await server.legacy(path, form, from: "192.0.2.2")
            #expect(refused["code"] == -1 && refused["data"] == [:])
            #expect(refused["message"]?.stringValue?.contains(part) == true, "\(refused)")
        }
    }

    @Test func anUnknownUserIsAnsweredAsAWrongPassword() async throws {
        try await RealServer.withLegacy { server in
            _ = try await self.register(server, "alice")
            let wrong = try await server.legacy("/mobileLogin", "userName=alice&password=wrong+horse", from: "192.0.2.2")
            let unknown = try await server.legacy("/mobileLogin", "userName=nobody&password=wrong+horse", from: "192.0.2.2")
            #expect(wrong == unknown)
        }
    }

    @Test(arguments: [(16_384, "The name"), (16_385, "maximum of 16384 bytes"), (100_000, "maximum of 16384 bytes")])
    func aFormHasALimit(bytes: Int, message: String) async throws {
        try await RealServer.withLegacy { server in
            let start = "userName=alice&password=wrong+horse&x="
            let answer = try await server.legacy(
                "/mobileLogin", start + String(repeating: "a", count: bytes - start.utf8.count), from: "192.0.2.1")
            #expect(answer["code"] == -1 && answer["message"]?.stringValue?.contains(message) == true, "\(answer)")
        }
    }

    /// The routes are charged to the same budgets as those of the chat.
    @Test func registrationsAndSignInsOfAnAddressAreBounded() async throws {
        try await RealServer.withLegacy { server in
            var codes: [JSONValue?] = []
            for number in 0..<6 { codes.append(try await self.register(server, "user\(number)")["code"]) }
            #expect(codes == [1, 1, 1, 1, 1, -1])
            let shared = try await server.register("alice", from: "192.0.2.1")
            #expect(shared.status == 429)
            var messages: [String?] = []
            for _ in 0..<11 {
                messages.append(
                    try await server.legacy("/mobileLogin", "userName=user0&password=wrong+horse", from: "192.0.2.3")["message"]?
                        .stringValue)
            }
            #expect(messages.prefix(10).allSatisfy { $0 == messages[0] } && messages[10]?.hasPrefix("Too many") == true)
        }
    }

    @Test func aServerThatNeedsInvitationsRegistersNoUserOfAnApp() async throws {
        try await RealServer.withLegacy({ $0.registration = .invitation }) { server in
            let refused = try await self.register(server, "alice")
            #expect(refused["code"] == -1 && refused["message"]?.stringValue?.contains("invitation") == true)
        }
    }

    // MARK: Users

    @Test func theListHasTheUsersThatAllCanFind() async throws {
        try await RealServer.withLegacy { server in
            let alice = try await server.legacyUser("alice", from: "192.0.2.1")
            _ = try await server.legacyUser("bobby", from: "192.0.2.2")
            let page = try await alice.ownClient()
            _ = try await page.ask(
                ChatVerbs.settingsSet, SettingsSetRequest(id: id("s1"), settings: UserSettings(find: .contacts)))
            let answer = try await server.running.legacy.get("/allUsers", RealServer.fields("192.0.2.9")).json()
            #expect(answer["code"] == 1)
            #expect(answer["data"]?["allUser"] == [["name": "bobby", "nickname": "bobby", "headImageUrl": ""]])
            #expect(answer["data"]?["onLineUsers"] == [])
        }
    }

    // MARK: Pictures without an account

    private static let gif = "GIF89a\u{1}\u{0}\u{1}\u{0}\u{0}\u{0}\u{0};"

    @Test(arguments: ["", "text", "<svg xmlns=\"http://www.w3.org/2000/svg\"/>", "%PDF-1.7", "GIF89a", "RIFF1234WAVE"])
    func anotherFileIsNotAccepted(content: String) async throws {
        try await RealServer.withLegacy { server in
            let refused = try await self.upload(server, content, from: "192.0.2.1")
            #expect(refused["code"] == -1 && refused["data"] == [:])
        }
    }

    @Test(arguments: ["multipart/form-data", "application/octet-stream", "multipart/form-data; boundary=other", ""])
    func aFormWithoutThePartIsRefused(type: String) async throws {
        try await RealServer.withLegacy { server in
            let refused = try await self.upload(server, Self.gif, type: type, from: "192.0.2.1")
            #expect(refused["code"] == -1 && refused["message"]?.stringValue?.contains("`image`") == true)
        }
    }

    // MARK: Files

    @Test(
        arguments: [
            "/images/none.png", "/images/", "/images/..%2Fchat.key", "/images/../chat.key", "/images/%00", "/images/a/b",
            "/images/" + String(repeating: "0f", count: 32) + ".png",
            "/images/" + String(repeating: "0f", count: 32) + "-" + String(repeating: "0", count: 32) + ".png",
        ])
    func aPathThatTheServerDidNotMakeIsNotFound(path: String) async throws {
        try await RealServer.withLegacy { server in
            let answer = try await server.running.legacy.get(path, RealServer.fields("192.0.2.1"))
            #expect(answer.status == 404 || answer.status == 400, "\(answer.status)")
            #expect(answer.headers["x-content-type-options"] == "nosniff")
        }
    }

    @Test func theMapIsAPictureOfTheServer() async throws {
        try await RealServer.withLegacy { server in
            let answer = try await server.running.legacy.get("/images/location.png", RealServer.fields("192.0.2.1"))
            #expect(answer.status == 200 && answer.headers["content-type"] == "image/png")
            #expect(answer.headers["content-security-policy"] == "sandbox; default-src 'none'")
            #expect(LegacyMap.picture.starts(with: [0x89, 0x50, 0x4E, 0x47]))
        }
    }

    @Test func theListenersHaveDifferentRoutes() async throws {
        try await RealServer.withLegacy { server in
            for path in ["/api/server", "/health", "/", "/api/sessions", "/metrics"] {
                #expect(try await server.running.legacy.get(path, RealServer.fields("192.0.2.1")).status == 404, "\(path)")
            }
            for path in ["/allUsers", "/images/location.png"] {
                let answer = try await server.http.get(path, RealServer.fields("192.0.2.1"))
                #expect(answer.headers["content-type"]?.hasPrefix("image/png") != true && !answer.body.contains("allUser"), "\(path)")
            }
        }
    }
}

import ApusChatProtocol
import ApusChatStorage
import ApusJSON
import HTTPTypes
import HummingbirdTesting
import NIOConcurrencyHelpers
import NIOCore
import Testing

@testable import ApusChatHTTP

@Suite struct AccountRouteTests {
    @Test func aSessionBeginsIsRenewedAndEnds() async throws {
        try await TestServer().run { (client: TestRequests) async throws in
            let registered = try await client.register("alice")
            #expect(registered.status == .ok)
            #expect(registered.headers[.cacheControl] == "no-store")
            #expect(registered.headers[.xContentTypeOptions] == "nosniff")
            let first = try registered.session()
            let renewed = try await client.post("/api/refresh", .object(["refresh": .string(first.refresh)])).session()
            #expect(try await client.send(.get, "/api/sessions", token: renewed.access).status == .ok)
            #expect(try await client.post("/api/logout", .object([:]), token: renewed.access).status == .ok)
            let refused = try await client.send(.get, "/api/sessions", token: renewed.access)
            #expect(refused.status == .unauthorized)
            #expect(try refused.error().code == .unauthorized)
            let login: JSONValue = .object(["name": "alice", "password": "correct horse", "device": TestRequests.device])
            #expect(try await client.post("/api/login", login).status == .ok)
        }
    }

    @Test func logoutTakesARefreshTokenAndNone() async throws {
        try await TestServer().run { (client: TestRequests) async throws in
            let session = try await client.register("alice").session()
            #expect(try await client.post("/api/logout", .object(["refresh": .string(session.refresh)])).status == .ok)
            #expect(try await client.send(.get, "/api/sessions", token: session.access).status == .unauthorized)
            #expect(try await client.post("/api/logout", .object([:])).status == .ok)
            #expect(try await client.post("/api/logout", .object(["refresh": "r.wrong"])).status == .ok)
        }
    }

    @Test func aDeviceIsEndedByItsId() async throws {
        try await TestServer().run { (client: TestRequests) async throws in
            let first = try await client.register("alice").session()
            let second = try await client.post(
                "/api/login", .object(["name": "alice", "password": "correct horse", "device": TestRequests.device])
            ).session()
            let path = "/api/sessions/" + first.device.rawValue
            #expect(try await client.send(.delete, path, token: second.access).status == .ok)
            #expect(try await client.send(.delete, path, token: second.access).status == .notFound)
            #expect(try await client.send(.delete, "/api/sessions/x", token: second.access).status == .notFound)
            let list = try DevicesAnswer(json: try await client.post("/api/chat/devices", .object([:]), token: second.access).json())
            #expect(list.devices.map(\.device) == [second.device])
        }
    }

    @Test(
        arguments: [
            ("/api/register", #"{"name":"alice"}"#, "password"), ("/api/register", #"[]"#, nil), ("/api/login", "{", nil),
            ("/api/register", #"{"name":"a b","password":"correct horse","device":{"name":"x","platform":"y"}}"#, "name"),
            ("/api/register", #"{"name":"alice","password":"short","device":{"name":"x","platform":"y"}}"#, "password"),
            ("/api/register", #"{"name":"al\u200bice","password":"correct horse","device":{"name":"x","platform":"y"}}"#, "name"),
            ("/api/refresh", "{}", "refresh"),
        ] as [(String, String, String?)])
    func aWrongFieldIsNamed(_ path: String, _ body: String, _ field: String?) async throws {
        try await TestServer().run { (client: TestRequests) async throws in
            let answer = try await client.send(.post, path, body: ByteBuffer(string: body))
            #expect(answer.status == .badRequest)
            let error = try answer.error()
            #expect(error.code == .badRequest)
            if let field { #expect(error.field == field) }
        }
    }

    @Test func aBodyHasALimit() async throws {
        try await TestServer().run { (client: TestRequests) async throws in
            let body = ByteBuffer(repeating: UInt8(ascii: " "), count: 20_000)
            #expect(try await client.send(.post, "/api/login", body: body).status == .contentTooLarge)
        }
    }

    @Test func aRefusalStatesWhenToTryAgain() async throws {
        let server = try TestServer()
        try await server.run { (client: TestRequests) async throws in
            let login: JSONValue = .object(["name": "alice", "password": "wrong horse", "device": TestRequests.device])
            for _ in 0..<10 { #expect(try await client.post("/api/login", login).status == .unauthorized) }
            let refused = try await client.post("/api/login", login)
            #expect(refused.status == .tooManyRequests)
            #expect(refused.headers[.retryAfter] == "30")
            #expect(try refused.error().retryAfter == 30_000)
        }
    }

    @Test func aFullDiskIsReported() async throws {
        let server = try TestServer()
        server.test.database.isFull.withLockedValue { $0 = true }
        try await server.run { (client: TestRequests) async throws in
            let refused = try await client.register("alice")
            #expect(refused.status == .serviceUnavailable)
            #expect(try refused.error().code == .storage)
        }
    }

    @Test func aPasswordIsChangedAndRecovered() async throws {
        try await TestServer().run { (client: TestRequests) async throws in
            let session = try await client.register("alice").session()
            let changed = try await client.post(
                "/api/password", .object(["old": "correct horse", "new": "battery staple", "device": TestRequests.device]),
                token: session.access)
            #expect(changed.status == .ok)
            let access = try changed.session().access
            let codes = try RecoveryAnswer(
                json: try await client.post("/api/recovery", .object(["password": "battery staple"]), token: access).json())
            let code = try #require(codes.recovery.first)
            let recovered = try await client.post(
                "/api/password",
                .object(["name": "alice", "recovery": .string(code), "new": "third password", "device": TestRequests.device]))
            #expect(recovered.status == .ok)
            #expect(try await client.send(.get, "/api/sessions", token: access).status == .unauthorized)
            let token = try recovered.session().access
            #expect(try await client.post("/api/account/delete", .object(["password": "wrong one"]), token: token).status == .forbidden)
            #expect(try await client.post("/api/account/delete", .object(["password": "third password"]), token: token).status == .ok)
            #expect(try await client.send(.get, "/api/sessions", token: token).status == .unauthorized)
        }
    }

    @Test func anAuthenticatorIsMadeAndRemoved() async throws {
        let server = try TestServer()
        try await server.run { (client: TestRequests) async throws in
            let token = try await client.token("alice")
            let made = try AuthenticatorAnswer(
                json: try await client.post("/api/totp", .object(["password": "correct horse"]), token: token).json())
            #expect(made.secret.count == 32)
            #expect(try await client.post("/api/totp/confirm", .object(["code": "x"]), token: token).status == .forbidden)
            #expect(try await client.post("/api/totp/delete", .object(["password": "correct horse"]), token: token).status == .ok)
            #expect(try await client.post("/api/totp/confirm", .object(["code": "x"]), token: token).status == .notFound)
        }
    }

    @Test(arguments: ["/api/recovery", "/api/totp", "/api/totp/confirm", "/api/totp/delete", "/api/account/delete", "/api/chat/send"])
    func aSessionIsRequired(_ path: String) async throws {
        try await TestServer().run { (client: TestRequests) async throws in
            #expect(try await client.post(path, .object([:])).status == .unauthorized)
            #expect(try await client.post(path, .object([:]), token: "a.AAAA").status == .unauthorized)
            #expect(try await client.post(path, .object([:]), headers: [.authorization: "Basic eDp5"]).status == .unauthorized)
        }
    }

    @Test func theMirrorAnswersVerbs() async throws {
        try await TestServer().run { (client: TestRequests) async throws in
            let token = try await client.token("alice")
            let answer = try await client.post("/api/chat/send", .object(["id": "1"]), token: token)
            #expect(try answer.json() == .object(["verb": "send", "request": .object(["id": "1"])]))
            let unknown = try await client.post("/api/chat/dance", .object([:]), token: token)
            #expect(unknown.status == .notImplemented)
            #expect(try unknown.error().code == .unsupported)
        }
    }

    @Test func theServerDescribesItself() async throws {
        try await TestServer().run { (client: TestRequests) async throws in
            #expect(try await client.send(.get, "/health").json() == ["status": "ok"])
            #expect(try await client.send(.get, "/ready").status == .ok)
            let server = try ServerAnswer(json: try await client.send(.get, "/api/server").json())
            #expect(server.registration == .open)
            let missing = try await client.send(.get, "/api/nothing")
            #expect(missing.status == .notFound)
            #expect(try missing.error().code == .notFound)
        }
    }
}

import ApusChatProtocol
import ApusChatStorage
import ApusJSON
import Crypto
import Foundation
import HTTPTypes
import HummingbirdTesting
import NIOConcurrencyHelpers
import NIOCore
import Testing

@testable import ApusChatHTTP

/// The push subscription of a device.
@Suite("Push subscriptions")
struct PushSubscriptionTests {
    private static func base64url(_ bytes: some Sequence<UInt8>) -> String { Secrets.base64url(Array(bytes)) }

    private static func data(
        endpoint: String = "https://push.example.org/1", key: String? = nil, auth: String? = nil
    ) -> JSONObject {
        let key = key ?? Self.base64url(P256.KeyAgreement.PrivateKey().publicKey.x963Representation)
        let auth = auth ?? Self.base64url(repeatElement(7, count: 16))
        return ["endpoint": .string(endpoint), "keys": ["p256dh": .string(key), "auth": .string(auth)]]
    }

    private func set(_ test: TestAccounts, _ session: AccountSession, _ service: PushService, _ data: JSONObject? = nil) async throws
        -> ChatError?
    {
        let id = try #require(ClientID("p1"))
        return try await test.code {
            try await test.accounts.setPush(PushSetRequest(id: id, service: service, data: data), of: session)
        }
    }

    private func stored(_ test: TestAccounts, _ session: AccountSession) async throws -> [PushDeviceRow] {
        try await test.database.read { try $0.pushDevices(of: session.user, limit: 10) }
    }

    private func session(_ test: TestAccounts, _ answer: SessionAnswer) async throws -> AccountSession {
        try await test.accounts.session(access: answer.access)
    }

    @Test func aSubscriptionBelongsToItsDeviceAndIsReplaced() async throws {
        let test = try TestAccounts()
        let first = try await self.session(test, try await test.register("alice"))
        let second = try await self.session(test, try await test.login("alice"))
        #expect(try await self.set(test, first, .web, Self.data(endpoint: "https://push.example.org/1")) == nil)
        #expect(try await self.set(test, second, .web, Self.data(endpoint: "https://push.example.org/2")) == nil)
        #expect(try await self.set(test, first, .web, Self.data(endpoint: "https://push.example.org/3")) == nil)
        let rows = try await self.stored(test, first)
        let endpoints = try rows.map { row in (row.key, try JSONValue(jsonString: row.subscription)["endpoint"]?.stringValue) }
        #expect(Set(endpoints.map(\.0)) == [first.device, second.device])
        #expect(Set(endpoints.compactMap(\.1)) == ["https://push.example.org/3", "https://push.example.org/2"])
    }

    @Test func noneRemovesTheSubscriptionOfTheDeviceOnly() async throws {
        let test = try TestAccounts()
        let first = try await self.session(test, try await test.register("alice"))
        let second = try await self.session(test, try await test.login("alice"))
        for session in [first, second] { #expect(try await self.set(test, session, .web, Self.data()) == nil) }
        for _ in 0..<2 { #expect(try await self.set(test, first, .none) == nil) }
        #expect(try await self.stored(test, first).map(\.key) == [second.device])
    }

    @Test func aSubscriptionEndsWithTheSession() async throws {
        let test = try TestAccounts()
        let session = try await self.session(test, try await test.register("alice"))
        #expect(try await self.set(test, session, .web, Self.data()) == nil)
        try await test.accounts.logout(refresh: nil, session: session, from: test.client)
        #expect(try await self.stored(test, session).isEmpty)
    }

    @Test func aChangeOfThePasswordKeepsTheSubscriptionOfTheDevice() async throws {
        let test = try TestAccounts()
        let session = try await self.session(test, try await test.register("alice"))
        #expect(try await self.set(test, session, .web, Self.data()) == nil)
        let before = try await self.stored(test, session)
        _ = try await test.accounts.setPassword(
            PasswordRequest(old: "correct horse", password: "battery staple", device: TestAccounts.device), session: session,
            from: test.client)
        #expect(try await self.stored(test, session) == before)
    }

    private static let point = base64url(P256.KeyAgreement.PrivateKey().publicKey.x963Representation)
    private static let wrong: [(data: JSONObject?, part: String)] = [
        (nil, "endpoint"), ([:], "endpoint"), (["endpoint": 5], "endpoint"), (data(endpoint: "http://push.example.org/1"), "endpoint"),
        (data(endpoint: "https://user:secret@push.example.org/1"), "endpoint"),
        (data(endpoint: "https://push.example.org/" + String(repeating: "a", count: 5_000)), "endpoint"),
        (data(endpoint: "https://push.example.org/\u{E9}"), "endpoint"), (data(endpoint: "push"), "endpoint"),
        (["endpoint": "https://push.example.org/1"], "keys.p256dh"), (data(key: ""), "keys.p256dh"), (data(key: "####"), "keys.p256dh"),
        (data(key: base64url(repeatElement(4, count: 65))), "keys.p256dh"),
        (data(key: String(point.dropLast(2))), "keys.p256dh"),
        (data(auth: ""), "keys.auth"), (data(auth: base64url(repeatElement(7, count: 15))), "keys.auth"),
        (data(auth: base64url(repeatElement(7, count: 17))), "keys.auth"),
    ]

    @Test(arguments: wrong.indices) func aWrongSubscriptionIsRefusedWithItsPart(index: Int) async throws {
        let test = try TestAccounts()
        let session = try await self.session(test, try await test.register("alice"))
        let refused = try await self.set(test, session, .web, Self.wrong[index].data)
        #expect(refused?.code == .badRequest && refused?.field == "data")
        #expect(refused?.message.contains("`\(Self.wrong[index].part)`") == true, "\(refused?.message ?? "")")
        #expect(try await self.stored(test, session).isEmpty)
    }

    @Test(arguments: [PushService.apns, .fcm, .unknown]) func anotherServiceIsUnsupported(service: PushService) async throws {
        let test = try TestAccounts()
        let session = try await self.session(test, try await test.register("alice"))
        let refused = try await self.set(test, session, service, Self.data())
        #expect(refused?.code == .unsupported && refused?.field == "kind")
    }

    /// A subscription that ended at its push service is removed, unless the device has a newer one.
    @Test func onlyTheSubscriptionThatEndedIsForgotten() async throws {
        let test = try TestAccounts()
        let session = try await self.session(test, try await test.register("alice"))
        #expect(try await self.set(test, session, .web, Self.data(endpoint: "https://push.example.org/1")) == nil)
        let old = try #require(try await self.stored(test, session).first)
        #expect(try await self.set(test, session, .web, Self.data(endpoint: "https://push.example.org/2")) == nil)
        try await test.accounts.forgetPush(of: session.device, old.subscription)
        let new = try #require(try await self.stored(test, session).first)
        // The subscription of another device is not removed either.
        try await test.accounts.forgetPush(of: DeviceKey(session.device.rawValue - 1), new.subscription)
        #expect(try await self.stored(test, session) == [new])
        try await test.accounts.forgetPush(of: session.device, new.subscription)
        #expect(try await self.stored(test, session).isEmpty)
    }

    @Test func theMirrorSetsASubscription() async throws {
        let server = try TestServer()
        try await server.run { (client: TestRequests) async throws in
            let token = try await client.token("alice")
            let set = try await client.post("/api/chat/push.set", ["id": "p", "kind": "web", "data": .object(Self.data())], token: token)
            #expect(set.status == .ok)
            let wrong = try await client.post("/api/chat/push.set", ["id": "p", "kind": "carrier-pigeon"], token: token)
            #expect(wrong.status == .badRequest)
            #expect(try wrong.error().field == "kind")
            let session = try await server.test.accounts.session(access: token)
            #expect(try await self.stored(server.test, session).count == 1)
        }
    }
}

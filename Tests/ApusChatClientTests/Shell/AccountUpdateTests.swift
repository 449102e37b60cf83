import ApusChatCore
import ApusChatProtocol
import ApusJSON
import ApusEventLoop
import Foundation
import Testing

@testable import ApusChatClient

@Suite("Account")
struct AccountUpdateTests {
    private static let own = ConversationID(number: 1)

    @Test func aNewSignInIsReported() async throws {
        let server = FakeServer()
        server.user(Value.alice)
        let device = try TestDevice(server)
        let client = try await device.signIn()
        try await client.isOnline()
        let updates = client.updates(bufferingPolicy: .unbounded)
        let event = ChatEvent(
            conversation: Self.own, seq: 1, n: nil, sender: Value.alice, id: nil, at: 1, kind: EventKind(rawValue: "device.add"),
            body: ["device": .string(DeviceID(number: 7).rawValue), "name": "phone", "platform": "ios"])
        server.push(ChatPushes.event.name, EventPush(events: [event]).json)
        for await update in updates {
            guard case .device(let kind, let body) = update else { continue }
            #expect(kind.rawValue == "device.add" && body.name == "phone" && body.device == DeviceID(number: 7))
            break
        }
        await client.close()
        device.remove()
    }

    @Test func aPictureIsRequestedAsThatOfItsUser() throws {
        let blob = try #require(BlobID(String(repeating: "a", count: 64)))
        #expect(ChatHTTPClient.path(of: blob, size: nil, owner: nil) == "/api/blobs/\(blob.rawValue)")
        #expect(ChatHTTPClient.path(of: blob, size: 64, owner: .user(Value.name("bob"))).hasSuffix("?size=64&user=bob"))
        #expect(ChatHTTPClient.path(of: blob, size: nil, owner: .user(Value.name("张三"))).hasSuffix("?user=%E5%BC%A0%E4%B8%89"))
        #expect(ChatHTTPClient.path(of: blob, size: nil, owner: .user(Value.name("a&b"))).hasSuffix("?user=a%26b"))
        #expect(ChatHTTPClient.path(of: blob, size: nil, owner: .conversation(Self.own)).hasSuffix("?conv=\(Self.own.rawValue)"))
    }

    /// The transport has reconnected, and the engine has not received the event yet.
    @Test func aRequestBeforeTheHelloOfANewConnectionIsRepeated() async throws {
        let server = FakeServer()
        server.user(Value.alice)
        let room = server.conversation(.group, [Value.alice])
        let device = try TestDevice(server)
        let client = try await device.signIn()
        try await client.isOnline()
        server.fail("members", with: ChatError(.unauthorized, message: "The first request of a connection is `hello`."))
        async let page = client.conversation(room).members()
        try await eventually { server.count(of: "members") == 1 }
        server.disconnectAll()
        #expect(try await page.members.count == 1)
        await client.close()
        device.remove()
    }

    @Test func anUploadReportsItsProgress() async throws {
        let server = FakeServer()
        server.user(Value.alice)
        server.user(Value.bob)
        let pair = server.conversation(.pair, [Value.alice, Value.bob])
        let device = try TestDevice(server)
        let client = try await device.signIn()
        try await client.isOnline()
        let path = device.folder + "/big.bin"
        try [UInt8](repeating: 7, count: 1_000_000).write(to: path)
        let updates = client.updates(bufferingPolicy: .unbounded)
        let sent = try await client.conversation(pair).send(file: path, type: "application/octet-stream")
        #expect(sent.progress == 0 && sent.delivery == .uploading)
        var told: [Double] = []
        for await update in updates {
            if case .outgoing(let message) = update, let progress = message.progress { told.append(progress) }
            if case .messages(pair, _) = update { break }
        }
        #expect(told == told.sorted() && told.contains { $0 > 0 && $0 < 1 })
        let row = try await client.conversation(pair).storedMessages().messages.first
        #expect(row?.progress == nil && row?.delivery == .sent)
        await client.close()
        device.remove()
    }
}

extension [UInt8] {
    fileprivate func write(to path: String) throws { try Data(self).write(to: URL(fileURLWithPath: path)) }
}

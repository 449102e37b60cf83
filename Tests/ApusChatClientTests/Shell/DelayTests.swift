import ApusChatCore
import ApusChatProtocol
import ApusJSON
import Foundation
import NIOConcurrencyHelpers
import Testing

@testable import ApusChatClient

/// The delays before another attempt, and the number of requests at the same time.
@Suite("Delays and limits of the engine", .timeLimit(.minutes(5)))
struct DelayTests {
    private let server = FakeServer()
    private let sleeps = NIOLockedValueBox<[Duration]>([])

    /// Runs `body` with a client of alice, whose delays are recorded.
    private func with(
        _ body: (TestDevice, ConversationID) async throws -> Void
    ) async throws {
        let (_, pair) = try self.server.pair()
        var environment = ChatEnvironment.test
        let sleeps = self.sleeps
        environment.sleep = { delay in
            sleeps.withLockedValue { $0.append(delay) }
            try await ChatEnvironment.test.sleep(delay)
        }
        let device = try TestDevice(self.server, environment: environment)
        defer { device.remove() }
        try await body(device, pair)
    }

    private func delays(_ wanted: Set<Duration>) -> [Duration] {
        self.sleeps.withLockedValue { $0.filter { wanted.contains($0) } }
    }

    // MARK: Uploads

    private func upload(_ errors: Int, _ error: ChatClientError) async throws {
        try await self.with { device, pair in
            let client = try await device.signIn()
            try await client.isOnline()
            let path = device.folder + "/a.bin"
            try Data([1, 2, 3]).write(to: URL(fileURLWithPath: path))
            switch errors {
            case 1: self.server.failUploads(error)
            case 7: self.server.failUploads(error, error, error, error, error, error, error)
            default: Issue.record("\(errors) errors")
            }
            let chat = client.conversation(pair)
            self.sleeps.withLockedValue { $0 = [] }
            try await chat.send(file: path, type: "application/octet-stream")
            try await eventually { try await chat.unsent.isEmpty }
            await client.close()
        }
    }

    /// The delay doubles up to 30 seconds.
    @Test func theDelayOfAnUploadGrowsToItsLimit() async throws {
        try await self.upload(7, ChatClientError(.timeout, message: ""))
        let expected: [Duration] = [2, 4, 8, 16, 30, 30, 30].map { .seconds($0) }
        #expect(self.delays(Set(expected)) == expected)
    }

    /// The server knows when the next attempt can succeed.
    @Test func theDelayOfTheServerIsAwaited() async throws {
        try await self.upload(1, ChatClientError(server: ChatError(.tooMany, message: "", retryAfter: 12_345)))
        #expect(self.delays([.milliseconds(12_345), .seconds(2)]) == [.milliseconds(12_345)])
    }

    // MARK: Connections

    /// The delay doubles with each attempt, unless the server knows when one can succeed.
    @Test func aRefusedHelloIsRepeatedAfterItsDelay() async throws {
        try await self.with { device, _ in
            let first = FollowSettings().holePatience
            let busy = ChatError(.unavailable, message: "busy", retryAfter: 7_654)
            for error in [ChatError(.unavailable, message: ""), ChatError(.storage, message: ""), busy] {
                self.server.fail("hello", with: error)
            }
            let client = try await device.signIn()
            try await client.isOnline()
            #expect(self.server.count(of: "hello") == 4)
            let expected = [first, first * 2, .milliseconds(7_654)]
            #expect(self.delays(Set(expected)) == expected)
            await client.close()
        }
    }

    /// An error that a repetition does not repair ends the session.
    @Test func aHelloOfAnUnsupportedVersionIsNotRepeated() async throws {
        try await self.with { device, _ in
            self.server.fail("hello", with: ChatError(.unsupported, message: "Update the client."))
            let client = try await device.signIn()
            try await eventually { if case .signedOut = await client.state { true } else { false } }
            #expect(await client.state == .signedOut(ChatError(.unsupported, message: "Update the client.")))
            #expect(self.server.count(of: "hello") == 1)
            await client.close()
        }
    }

    // MARK: Limits

    /// The logs of many conversations are requested a few at a time.
    @Test func fewHistoriesAreRequestedAtTheSameTime() async throws {
        try await self.with { device, pair in
            var conversations = [pair]
            for _ in 0..<9 { conversations.append(self.server.conversation(.group, [Value.alice, Value.bob])) }
            for conversation in conversations { self.server.write("hello", by: Value.bob, in: conversation) }
            self.server.withhold("history")
            let client = try await device.signIn()
            try await client.isOnline()
            // The client follows the logs that the application has read.
            for conversation in conversations { _ = try await client.conversation(conversation).storedMessages() }
            let maximum = ChatClientConfiguration().maximumPulls
            try await eventually { self.server.count(of: "history") == maximum }
            for _ in 0..<300 { await Task.yield() }
            #expect(self.server.count(of: "history") == maximum)
            // A lost connection ends the requests, and all logs arrive.
            self.server.release("history")
            self.server.disconnectAll()
            for conversation in conversations {
                try await eventually { try await client.conversation(conversation).texts == ["hello"] }
            }
            await client.close()
        }
    }

    /// Profiles of many users are requested in parts, each user once.
    @Test func profilesAreRequestedInParts() async throws {
        try await self.with { device, _ in
            let client = try await device.signIn()
            try await client.isOnline()
            let names = (0..<250).map { Value.name("user\($0)") }
            await client.engine.want(names)
            try await eventually { await client.user(names[249])?.nick != nil }
            for name in names { #expect(await client.user(name)?.nick == name.rawValue.uppercased()) }
            let requested = self.server.requests(of: "users").map { $0["names"]?.arrayValue ?? [] }
            #expect(requested.allSatisfy { $0.count <= ChatLimits.requestUsers })
            let all = requested.flatMap { $0 }.compactMap(\.stringValue).filter { $0.hasPrefix("user") }
            #expect(all.count == 250 && Set(all).count == 250)
            await client.close()
        }
    }

    /// A failed request for profiles is repeated when the profile is wanted again.
    @Test func aFailedRequestForProfilesIsRepeatedOnDemand() async throws {
        try await self.with { device, _ in
            let client = try await device.signIn()
            try await client.isOnline()
            let name = Value.name("zed")
            self.server.fail("users", with: ChatError(.forbidden, message: ""))
            #expect(await client.user(name) == nil)
            try await eventually { await client.engine.usersWanted.isEmpty }
            #expect(await client.user(name) == nil)
            try await eventually { await client.user(name)?.nick == "ZED" }
            await client.close()
        }
    }
}

import ApusChatProtocol
import ApusEventLoop
import Foundation
import NIOConcurrencyHelpers
import Testing

@testable import ApusChatClient

@Suite("Sessions")
struct SessionTests {
    let server = FakeServer()
    let device: TestDevice

    init() throws {
        self.server.user(Value.alice)
        self.server.user(Value.bob)
        self.device = try TestDevice(self.server)
    }

    @Test func anEndedAccessTokenIsRenewedOnce() async throws {
        let client = try await self.device.signIn()
        try await client.isOnline()
        self.server.expireTokens()
        self.server.disconnectAll()
        try await eventually { self.server.refreshes == 1 }
        try await client.isOnline()
        #expect(try client.store.account()?.access == "alice/2")
        #expect(try client.store.account()?.refresh == "alice/r1")
        await client.close()
        self.device.remove()
    }

    /// The transport reports the loss of the connection after the `bye`, whose handling has already
    /// ended the reconnection of the transport.
    @Test func aClientReconnectsAfterABye() async throws {
        let client = try await self.device.signIn()
        for _ in 0..<5 {
            try await client.isOnline()
            let updates = client.updates(bufferingPolicy: .unbounded)
            self.server.restart()
            for await case .connection(let state) in updates where state != .online { break }
        }
        try await client.isOnline()
        await client.close()
        self.device.remove()
    }

    /// A `bye` with a time spreads the reconnections of the clients. Without one, the client uses a
    /// random delay.
    @Test(arguments: [
        (ByePush(reason: .shutdown, retryAfter: 4_321), Duration.milliseconds(4_321)),
        (ByePush(reason: .slow), ChatClientConfiguration().refusalDelay * 1.25),
    ])
    func theTimeOfByeIsAwaited(bye: ByePush, expected: Duration) async throws {
        let sleeps = NIOLockedValueBox<[Duration]>([])
        var environment = ChatEnvironment.test
        environment.random = { 0.25 }
        environment.sleep = { delay in
            sleeps.withLockedValue { $0.append(delay) }
            try await ChatEnvironment.test.sleep(delay)
        }
        let device = try TestDevice(self.server, environment: environment)
        let client = try await device.signIn()
        try await client.isOnline()
        let updates = client.updates(bufferingPolicy: .unbounded)
        self.server.restart(saying: bye)
        for await case .connection(let state) in updates where state != .online { break }
        try await client.isOnline()
        #expect(sleeps.withLockedValue { $0 }.contains(expected))
        await client.close()
        device.remove()
    }

    @Test func aRevokedSessionIsReportedAndKeepsTheStore() async throws {
        let client = try await self.device.signIn()
        try await client.isOnline()
        self.server.revoke()
        self.server.disconnectAll()
        try await eventually { if case .signedOut = await client.state { true } else { false } }
        #expect(try client.store.account() != nil)
        await client.close()
        self.device.remove()
    }

    @Test func signingOutWithoutAConnectionWipesAndNotifiesLater() async throws {
        let client = try await self.device.signIn()
        try await client.isOnline()
        self.server.setReachable(false)
        self.server.disconnectAll()
        try await self.device.accounts.signOut(client)
        #expect(self.device.accounts.all.isEmpty)
        #expect(try FileManager.default.contentsOfDirectory(atPath: self.device.folder) == ["accounts.json"])
        #expect(self.device.accounts.pendingSignOuts == 1)
        self.server.setReachable(true)
        let again = try TestDevice(self.server, folder: self.device.folder)
        await again.accounts.finishSignOuts()
        #expect(again.accounts.pendingSignOuts == 0)
        #expect(self.server.logouts == ["alice/r0"])
        self.device.remove()
    }

    @Test func accountsAreSwitched() async throws {
        let alice = try await self.device.signIn()
        await alice.close()
        let bob = try await self.device.signIn(Value.bob)
        await bob.close()
        #expect(self.device.accounts.all.map(\.user) == [Value.alice, Value.bob])
        #expect(self.device.accounts.current?.user == Value.bob)
        let again = try TestDevice(self.server, folder: self.device.folder)
        let account = try #require(again.accounts.all.first)
        let client = try await again.accounts.open(account)
        #expect(client.user == Value.alice)
        #expect(again.accounts.current?.user == Value.alice)
        await client.close()
        self.device.remove()
    }

    /// A refused sign-in is not the end of a session: an application shows it beside the password.
    @Test func aWrongNameOrPasswordIsAnErrorOfItsOwn() async throws {
        await #expect { try await self.device.signIn(Value.name("carol")) } throws: { error in
            let error = error as? ChatClientError
            return error?.code == .wrongCredentials && error?.serverError?.code == .unauthorized && error?.message == "no such user"
        }
        #expect(self.device.accounts.all.isEmpty && self.device.accounts.current == nil)
        self.device.remove()
    }

    @Test func aWrongAddressOrNameIsRefused() async throws {
        await #expect(throws: ChatClientError.self) {
            _ = try await self.device.accounts.signIn(server: "ftp://x", name: "alice", password: "password")
        }
        await #expect(throws: ChatClientError.self) {
            _ = try await self.device.accounts.signIn(server: "http://x", name: "a b", password: "password")
        }
        self.device.remove()
    }

    @Test func aClosedClientIsReleased() async throws {
        weak var engine: ChatEngine?
        weak var client: ChatClient?
        try await {
            let opened = try await self.device.signIn()
            try await opened.isOnline()
            (client, engine) = (opened, opened.engine)
            await opened.close()
        }()
        try await eventually { client == nil && engine == nil }
        self.device.remove()
    }

    @Test func identifiersAreUUIDsOfVersion7InTheOrderOfTime() {
        let first = ChatEnvironment.uuid7(at: 1_700_000_000_000, high: .max, low: .max)
        let second = ChatEnvironment.uuid7(at: 1_700_000_000_001, high: 0, low: 0)
        #expect(first.rawValue == "018bcfe5-6800-7fff-bfff-ffffffffffff")
        #expect(second.rawValue == "018bcfe5-6801-7000-8000-000000000000")
        #expect(first.rawValue < second.rawValue)
    }
}

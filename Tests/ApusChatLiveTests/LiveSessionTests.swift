import ApusChatClient
import ApusChatProtocol
import Testing

/// Sessions of the client with a complete server.
@Suite(.timeLimit(.minutes(5)))
struct LiveSessionTests {
    @Test func anAccountIsCreatedUsedAndSignedOut() async throws {
        try await withLiveServer { fixture in
            let device = try fixture.device("laptop")
            let (alice, recovery) = try await device.signUp(server: fixture.relay.url, name: "alice", password: "correct horse")
            #expect(recovery.count == 8)
            try await fixture.online(alice)
            #expect(await alice.notes != nil)
            let phone = try await fixture.signIn("alice", device: "phone")
            #expect(Set(try await phone.devices().map(\.name)) == ["laptop", "phone"])
            try await device.signOut(alice)
            #expect(device.pendingSignOuts == 0)
            #expect(device.all.isEmpty)
            #expect(try await phone.devices().map(\.name) == ["phone"])
        }
    }

    @Test func aWrongPasswordATakenNameAndAnotherServerAreErrors() async throws {
        try await withLiveServer { fixture in
            _ = try await fixture.signUp("alice")
            let device = try fixture.device("other")
            for name in ["alice", "nobody"] {
                await #expect { try await device.signIn(server: fixture.relay.url, name: name, password: "wrong") } throws: {
                    let error = $0 as? ChatClientError
                    return error?.code == .wrongCredentials && error?.serverError?.code == .unauthorized
                }
            }
            await #expect {
                try await device.recover(server: fixture.relay.url, name: "alice", code: "wrong-code", newPassword: "battery staple")
            } throws: { ($0 as? ChatClientError)?.code == .wrongCredentials }
            await #expect { _ = try await device.signUp(server: fixture.relay.url, name: "alice", password: "wrong horse") } throws: {
                ($0 as? ChatClientError)?.serverError?.code == .conflict
            }
            await #expect { try await device.signIn(server: fixture.relay.url + "/other", name: "alice", password: "wrong") } throws: {
                ($0 as? ChatClientError)?.code == .notFound
            }
            #expect(device.all.isEmpty)
        }
    }

    @Test func aRecoveryCodeSetsAnotherPassword() async throws {
        try await withLiveServer { fixture in
            let first = try fixture.device("first")
            let (alice, recovery) = try await first.signUp(server: fixture.relay.url, name: "alice", password: "correct horse")
            try await fixture.online(alice)
            let code = try #require(recovery.first)
            let other = try await fixture.device("second").recover(
                server: fixture.relay.url, name: "alice", code: code, newPassword: "battery staple")
            try await fixture.online(other)
            try await alice.wait { if case .signedOut = await alice.state { true } else { false } }
        }
    }

    @Test func aRefusedAccessTokenIsRenewed() async throws {
        try await withLiveServer { fixture in
            let alice = try await fixture.signUp("alice")
            let bob = try await fixture.signUp("bob")
            // The token expires by the server's clock, and not by that of the client.
            fixture.clock.pass(milliseconds: 20 * 60_000)
            await fixture.relay.cut()
            let pair = try await alice.conversation(with: "bob")
            try await pair.send("after the renewal")
            let there = bob.conversation(pair.id)
            try await bob.wait { (try? await there.texts) == ["after the renewal"] }
        }
    }

    @Test func aRemovedDeviceIsSignedOut() async throws {
        try await withLiveServer { fixture in
            let laptop = try await fixture.signUp("alice")
            let phone = try await fixture.signIn("alice", device: "phone")
            let device = try #require(try await laptop.devices().first { $0.name == "phone" })
            try await laptop.signOut(device.device)
            try await phone.wait { if case .signedOut = await phone.state { true } else { false } }
            #expect(await laptop.state == .online)
        }
    }
}

import ApusChatClient
import ApusChatProtocol
import Testing

/// The account of the client at a real server.
@Suite(.timeLimit(.minutes(2)))
struct LiveAccountTests {
    /// A picture of one pixel (PNG).
    private static let picture: [UInt8] = [
        0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A, 0, 0, 0, 0x0D, 0x49, 0x48, 0x44, 0x52, 0, 0, 0, 1, 0, 0, 0, 1, 8, 6, 0, 0, 0, 0x1F,
        0x15, 0xC4, 0x89, 0, 0, 0, 0x0D, 0x49, 0x44, 0x41, 0x54, 0x78, 0x9C, 0x63, 0xF8, 0xCF, 0xC0, 0xF0, 0x1F, 0, 5, 0, 1, 0xFF, 0x89,
        0x99,
        0x3D, 0x1D, 0, 0, 0, 0, 0x49, 0x45, 0x4E, 0x44, 0xAE, 0x42, 0x60, 0x82,
    ]

    @Test func theNewPasswordKeepsThisSessionAndEndsTheOthers() async throws {
        try await withLiveServer { fixture in
            let alice = try await fixture.signUp("alice")
            let phone = try await fixture.signIn("alice", device: "phone")
            await #expect { try await alice.changePassword(from: "wrong", to: "another horse") } throws: { $0 is ChatClientError }
            try await alice.changePassword(from: "correct horse", to: "another horse")
            try await phone.wait { if case .signedOut = await phone.state { true } else { false } }
            // The tokens of this session are new, too.
            await fixture.relay.cut()
            try await fixture.online(alice)
            #expect(try await alice.devices().map(\.name) == ["alice"])
            #expect(try await alice.makeRecoveryCodes(password: "another horse").count == 8)
            await #expect { try await fixture.signIn("alice", device: "tablet") } throws: {
                ($0 as? ChatClientError)?.serverError?.code == .unauthorized
            }
        }
    }

    @Test func anAuthenticatorIsMadeAndNeedsItsCode() async throws {
        try await withLiveServer { fixture in
            let alice = try await fixture.signUp("alice")
            let authenticator = try await alice.makeAuthenticator(password: "correct horse")
            #expect(authenticator.uri.hasPrefix("otpauth://totp/") && authenticator.uri.contains(authenticator.secret))
            await #expect { try await alice.confirmAuthenticator(code: "abcdef") } throws: { $0 is ChatClientError }
            try await alice.removeAuthenticator(password: "correct horse")
        }
    }

    @Test func picturesOfUsersAndGroupsAreSetShownAndRemoved() async throws {
        try await withLiveServer { fixture in
            let alice = try await fixture.signUp("alice")
            let bob = try await fixture.signUp("bob")
            let path = try fixture.write(Self.picture, to: "face.png")
            try await alice.setAvatar(file: path, type: "image/png")
            _ = try await bob.conversation(with: "alice")
            try await bob.wait { await bob.user(alice.user)?.avatar != nil }
            #expect(try await bob.avatar(of: alice.user) == Self.picture)
            let group = try await alice.create(.group, title: "Rowing")
            try await group.setAvatar(file: path, type: "image/png")
            try await alice.wait { (try? await group.head.avatar) != nil }
            #expect(try await group.avatar() == Self.picture)
            try await alice.removeAvatar()
            try await alice.wait { await alice.user(alice.user)?.avatar == nil }
        }
    }

    @Test func aDeletedAccountLeavesNothingHere() async throws {
        try await withLiveServer { fixture in
            let device = try fixture.device("laptop")
            let alice = try await device.signUp(server: fixture.relay.url, name: "alice", password: "correct horse").client
            try await fixture.online(alice)
            await #expect { try await device.delete(alice, password: "wrong") } throws: { $0 is ChatClientError }
            #expect(device.all.count == 1)
            try await device.delete(alice, password: "correct horse")
            #expect(device.all.isEmpty)
            await #expect { try await device.signIn(server: fixture.relay.url, name: "alice", password: "correct horse") } throws: {
                $0 is ChatClientError
            }
        }
    }
}

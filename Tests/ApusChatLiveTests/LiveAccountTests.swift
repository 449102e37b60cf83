import ApusChatClient
import ApusChatProtocol
import Foundation
import Testing

@testable import ApusChatHTTP

/// The account of the client with a complete server.
@Suite(.timeLimit(.minutes(5)))
struct LiveAccountTests {
    /// A picture of one pixel (PNG).
    private static let picture: [UInt8] = [
        0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A, 0, 0, 0, 0x0D, 0x49, 0x48, 0x44, 0x52, 0, 0, 0, 1, 0, 0, 0, 1, 8, 6, 0, 0, 0, 0x1F,
        0x15, 0xC4, 0x89, 0, 0, 0, 0x0D, 0x49, 0x44, 0x41, 0x54, 0x78, 0x9C, 0x63, 0xF8, 0xCF, 0xC0, 0xF0, 0x1F, 0, 5, 0, 1, 0xFF, 0x89,
        0x99,
        0x3D, 0x1D, 0, 0, 0, 0, 0x49, 0x45, 0x4E, 0x44, 0xAE, 0x42, 0x60, 0x82,
    ]

    private static func isWrong(_ error: any Error, _ field: String) -> Bool {
        guard let error = error as? ChatClientError else { return false }
        return error.code == .wrongCredentials && error.serverError?.field == field
    }

    @Test func theNewPasswordKeepsThisSessionAndEndsTheOthers() async throws {
        try await withLiveServer { fixture in
            let alice = try await fixture.signUp("alice")
            let phone = try await fixture.signIn("alice", device: "phone")
            await #expect { try await alice.changePassword(from: "wrong", to: "another horse") } throws: { Self.isWrong($0, "old") }
            try await alice.changePassword(from: "correct horse", to: "another horse")
            try await phone.wait { if case .signedOut = await phone.state { true } else { false } }
            // The change of the password also renewed the tokens of this session.
            await fixture.relay.cut()
            try await fixture.online(alice)
            #expect(try await alice.devices().map(\.name) == ["alice"])
            #expect(try await alice.makeRecoveryCodes(password: "another horse").count == 8)
            await #expect { try await alice.makeRecoveryCodes(password: "correct horse") } throws: { Self.isWrong($0, "password") }
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
            #expect(try await alice.hasAuthenticator() == false, "it is not confirmed")
            await #expect { try await alice.confirmAuthenticator(code: "abcdef") } throws: { Self.isWrong($0, "code") }
            let secret = try #require(Self.bytes(ofBase32: authenticator.secret))
            try await alice.confirmAuthenticator(code: TOTP.code(secret, step: fixture.clock.now / 30_000))
            #expect(try await alice.hasAuthenticator())
            await #expect { try await fixture.signIn("alice", device: "tablet") } throws: {
                ($0 as? ChatClientError)?.serverError?.field == "code"
            }
            fixture.clock.pass(milliseconds: 30_000)
            let code = TOTP.code(secret, step: fixture.clock.now / 30_000)
            let phone = try await fixture.device("phone").signIn(
                server: fixture.relay.url, name: "alice", password: "correct horse", code: code)
            try await fixture.online(phone)
            await #expect { try await alice.removeAuthenticator(password: "wrong") } throws: { Self.isWrong($0, "password") }
            try await alice.removeAuthenticator(password: "correct horse")
            #expect(try await alice.hasAuthenticator() == false)
            _ = try await fixture.signIn("alice", device: "laptop")
        }
    }

    /// Decodes Base32 (RFC 4648, section 6); nil if the text has another letter.
    private static func bytes(ofBase32 text: String) -> [UInt8]? {
        let letters = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZ234567")
        var (bits, count, bytes): (UInt32, Int, [UInt8]) = (0, 0, [])
        for letter in text where letter != "=" {
            guard let value = letters.firstIndex(of: letter) else { return nil }
            bits = bits << 5 | UInt32(value)
            count += 5
            guard count >= 8 else { continue }
            count -= 8
            bytes.append(UInt8(truncatingIfNeeded: bits >> UInt32(count)))
        }
        return bytes
    }

    @Test func theDataOfTheAccountAreExported() async throws {
        try await withLiveServer { fixture in
            let alice = try await fixture.signUp("alice")
            let path = try fixture.write([1], to: "data.zip")
            try await alice.export(to: path)
            let data = try Data(contentsOf: URL(fileURLWithPath: path))
            #expect(data.starts(with: [0x50, 0x4B, 3, 4]) && data.range(of: Data("README.txt".utf8)) != nil)
            let attributes = try FileManager.default.attributesOfItem(atPath: path)
            #expect((attributes[.posixPermissions] as? NSNumber)?.intValue == 0o600)
            await #expect { try await alice.export(to: path + "/below/a/file") } throws: { ($0 as? ChatClientError)?.code == .invalidUse }
        }
    }

    @Test func picturesAreShownInTheDirectoryAndByALink() async throws {
        try await withLiveServer { fixture in
            let alice = try await fixture.signUp("alice")
            let bob = try await fixture.signUp("bob")
            let path = try fixture.write(Self.picture, to: "face.png")
            let group = try await alice.create(.group, title: "Rowing")
            try await group.setAvatar(file: path, type: "image/png")
            let link = try await group.createLink()
            #expect(try await bob.avatar(of: link.code) == Self.picture)
            var settings = ConversationSettingsChange()
            (settings.listed, settings.join) = (true, .open)
            try await group.set(settings: settings)
            let entry = try #require(try await bob.directory(matching: "Rowing").conversations.first)
            #expect(try await bob.avatar(of: entry) == Self.picture)
            try await group.set(avatar: .remove)
            #expect(try await bob.avatar(of: link.code) == nil)
        }
    }

    @Test func aChangedNameReachesTheListsOfOthers() async throws {
        try await withLiveServer { fixture in
            let alice = try await fixture.signUp("alice")
            let bob = try await fixture.signUp("bob")
            let pair = try await alice.conversation(with: "bob")
            try await pair.send("hello")
            let there = bob.conversation(pair.id)
            try await bob.wait { (try? await there.texts) == ["hello"] }
            try await alice.setProfile(nick: "Alice of the River")
            // The clock of the server does not affect its timers.
            try await bob.wait { (try? await there.head.peer?.nick) == "Alice of the River" }
            #expect(await bob.title(of: alice.user) == "Alice of the River")
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
            await #expect { try await device.delete(alice, password: "wrong") } throws: { Self.isWrong($0, "password") }
            #expect(device.all.count == 1)
            try await device.delete(alice, password: "correct horse")
            #expect(device.all.isEmpty)
            await #expect { try await device.signIn(server: fixture.relay.url, name: "alice", password: "correct horse") } throws: {
                $0 is ChatClientError
            }
        }
    }
}

import ApusChatStorage
import Foundation
import Testing

@testable import ApusChatHTTP

@Suite("Secrets and tokens")
struct SecretsTests {
    @Test(arguments: 0...40)
    func base64urlIsReadAsWritten(count: Int) throws {
        let bytes = (0..<count).map { UInt8(truncatingIfNeeded: $0 &* 251 &+ 0xF8) }
        let text = Secrets.base64url(bytes)
        #expect(
            text.utf8.allSatisfy {
                (0x30...0x39).contains($0) || (0x41...0x5A).contains($0) || (0x61...0x7A).contains($0) || $0 == 0x2D || $0 == 0x5F
            })
        #expect(Secrets.bytes(base64url: text[...]) == bytes)
    }

    @Test(arguments: ["+", "/", "=", "QQ==", "A", "é", "A B", "QUI=", "\u{0}"])
    func otherFormsOfBase64AreRefused(text: String) { #expect(Secrets.bytes(base64url: text[...]) == nil) }

    @Test(arguments: [([], ""), ([0x00], "00"), ([0xFF, 0x0A], "ff0a")] as [([UInt8], String)])
    func hexIsLowerCase(bytes: [UInt8], text: String) { #expect(Secrets.hex(bytes) == text) }

    @Test func codesAreTypedInAnyForm() {
        let code = Secrets.code()
        #expect(code.count == 19 && code.split(separator: "-").map(\.count) == [4, 4, 4, 4])
        #expect(!code.contains { "ilou".contains($0) })
        for form in [code.uppercased(), code.replacingOccurrences(of: "-", with: ""), " " + code.replacingOccurrences(of: "-", with: " ")] {
            #expect(Secrets.hash(ofCode: form) == Secrets.hash(ofCode: code))
        }
        #expect(Secrets.hash(ofCode: "0O1Il") == Secrets.hash(ofCode: "00111"))
        #expect(Secrets.hash(ofCode: "ab") != Secrets.hash(ofCode: "ba"))
        #expect(Secrets.code() != Secrets.code() && Secrets.key() >= 0)
    }

    // MARK: Tokens

    private let tokens = SessionTokens(key: Array(repeating: 7, count: 32))

    @Test(arguments: [
        (Int64(1), Int64(2), Int64(3), Int64(4)), (.max, .max, .max, .max), (0, 0, 0, 0), (.min, -1, 1, .max),
    ])
    func tokensAreReadAsWritten(user: Int64, device: Int64, generation: Int64, end: Int64) {
        let access = SessionTokens.Access(user: UserKey(user), device: DeviceKey(device), generation: generation, expiresAt: end)
        #expect(self.tokens.access(self.tokens.text(of: access)) == access)
        let refresh = self.tokens.refresh(self.tokens.refresh(DeviceKey(device), generation: generation))
        #expect(refresh?.device == DeviceKey(device) && refresh?.generation == generation)
    }

    /// A token is valid only for its purpose and its server.
    @Test func tokensAreNotInterchangeable() {
        let other = SessionTokens(key: Array(repeating: 8, count: 32))
        let access = SessionTokens.Access(user: UserKey(1), device: DeviceKey(2), generation: 3, expiresAt: 4)
        let texts = [
            self.tokens.text(of: access), self.tokens.refresh(DeviceKey(2), generation: 3), self.tokens.known(UserKey(1)),
        ]
        for text in texts {
            for purpose in ["a", "r", "k"] {
                let changed = purpose + text.dropFirst()
                let isOwn = changed == text
                #expect((self.tokens.access(changed) != nil) == (isOwn && purpose == "a"))
                #expect((self.tokens.refresh(changed) != nil) == (isOwn && purpose == "r"))
                #expect((self.tokens.known(changed, of: UserKey(1)) != nil) == (isOwn && purpose == "k"))
            }
            #expect(other.access(text) == nil && other.refresh(text) == nil && other.known(text, of: UserKey(1)) == nil)
            for cut in 0..<text.count { #expect(self.tokens.access(String(text.prefix(cut))) == nil) }
            #expect(self.tokens.access(text + "A") == nil && self.tokens.refresh(text + "AAAA") == nil)
            #expect(self.tokens.access(text + String(repeating: "A", count: 10_000)) == nil)
        }
        #expect(self.tokens.known(self.tokens.known(UserKey(1)), of: UserKey(2)) == nil)
    }

    @Test func aSealedSecretBelongsToItsUser() throws {
        let sealed = try self.tokens.sealed([1, 2, 3], of: UserKey(1))
        #expect(self.tokens.opened(sealed, of: UserKey(1)) == [1, 2, 3])
        #expect(self.tokens.opened(sealed, of: UserKey(2)) == nil)
        #expect(SessionTokens(key: Array(repeating: 8, count: 32)).opened(sealed, of: UserKey(1)) == nil)
        for index in sealed.indices {
            var changed = sealed
            changed[index] ^= 1
            #expect(self.tokens.opened(changed, of: UserKey(1)) == nil)
        }
        #expect(self.tokens.opened([], of: UserKey(1)) == nil && self.tokens.opened([1], of: UserKey(1)) == nil)
        // The same secret is sealed differently each time.
        #expect(try self.tokens.sealed([1, 2, 3], of: UserKey(1)) != sealed)
    }

    // MARK: Codes of an authenticator

    @Test(arguments: [
        ("", ""), ("f", "MY"), ("fo", "MZXQ"), ("foo", "MZXW6"), ("foob", "MZXW6YQ"), ("fooba", "MZXW6YTB"), ("foobar", "MZXW6YTBOI"),
    ])
    func secretsAreBase32(text: String, base32: String) { #expect(TOTP.text(of: Array(text.utf8)) == base32) }  // RFC 4648

    @Test func aCodeIsValidForOneStepAroundItsOwn() {
        let secret = Array("12345678901234567890".utf8)
        let step: Int64 = 1_000
        let code = TOTP.code(secret, step: step)
        let time = step * 30_000
        for (offset, isValid) in [(-30_001, false), (-30_000, true), (0, true), (29_999, true), (59_999, true), (60_000, false)]
            as [(Int64, Bool)]
        {
            #expect((TOTP.accepts(code, secret, after: 0, at: time + offset) == step) == isValid, "\(offset)")
        }
        #expect(TOTP.accepts(code, secret, after: step, at: time) == nil)  // used
        #expect(TOTP.accepts(code, secret, after: step - 1, at: time) == step)
        #expect(TOTP.accepts(" \(code.prefix(3)) \(code.suffix(3)) ", secret, after: 0, at: time) == step)
        for wrong in ["", "0", code + "0", String(code.dropLast()), "١٢٣٤٥٦", String(code.reversed()) + "x"] {
            #expect(TOTP.accepts(wrong, secret, after: 0, at: time) == nil)
        }
        #expect(TOTP.accepts(code, secret, after: 0, at: .min) == nil)
    }
}

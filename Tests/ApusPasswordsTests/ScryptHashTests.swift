import Testing

@testable import ApusPasswords

@Suite struct ScryptHashTests {
    /// The second vector of RFC 7914 section 12, whose hash is cut to 32 bytes.
    ///
    /// A shorter output is the beginning of a longer one, because both are blocks of PBKDF2.
    private static let stored = "scrypt$10$8$16$TmFDbA==$/bq+HJ00cgB4VucZDQHp/nxq18vII3gw53N2Y0s3MWI="

    @Test func theVectorOfTheRFCVerifies() throws {
        let hash = try #require(ScryptHash(text: Self.stored))
        #expect(hash.text == Self.stored)
        #expect(hash.verifies("password"))
        #expect(!hash.verifies("Password"))
    }

    @Test func aNewHashVerifiesAndHasASaltOfItsOwn() throws {
        let cost = ScryptHash.Cost(logRounds: 1)
        let (first, second) = (try ScryptHash(hashing: "安全", cost: cost), try ScryptHash(hashing: "安全", cost: cost))
        #expect(first.text != second.text)
        #expect(first.text.hasPrefix("scrypt$1$8$1$"))
        #expect(try #require(ScryptHash(text: first.text)).verifies("安全"))
        #expect(!first.verifies(""))
    }

    @Test(arguments: [
        (63, 8, 1), (64, 8, 1), (-1, 8, 1), (.max, 8, 1), (23, 8, 1), (1, 0, 1), (1, 65, 1), (1, 8, 0), (1, 8, -1), (1, 8, .max),
    ])
    func aCostOutOfRangeIsRefused(logRounds: Int, blockSize: Int, parallelism: Int) {
        #expect(throws: ScryptHash.CostError()) {
            try ScryptHash(
                hashing: "password", cost: ScryptHash.Cost(logRounds: logRounds, blockSize: blockSize, parallelism: parallelism))
        }
    }

    /// A hash of an earlier version may be that of a password with NULs.
    @Test func aPasswordDoesNotMatchWithNULsAfterIt() throws {
        let hash = try #require(ScryptHash(text: Self.stored))
        for other in ["password\u{0}", "password\u{0}\u{0}", "\u{0}password", "pass\u{0}word", "\u{0}"] {
            #expect(!hash.verifies(other), "\(other.utf8.map(\.self))")
        }
    }

    @Test(arguments: ["password\u{0}", "\u{0}", "pass\nword", "password\t", "\u{7F}password", "password\u{85}"])
    func aNewPasswordHasNoControlCharacters(password: String) {
        #expect(throws: ScryptHash.PasswordError()) { try ScryptHash(hashing: password, cost: ScryptHash.Cost(logRounds: 1)) }
    }

    @Test(arguments: [
        "", "scrypt$10$8$16$TmFDbA==", "bcrypt$10$8$16$TmFDbA==$AAAA", "scrypt$23$8$1$TmFDbA==$AAAA", "scrypt$0$8$1$TmFDbA==$AAAA",
        "scrypt$10$65$1$TmFDbA==$AAAA", "scrypt$10$8$0$TmFDbA==$AAAA", "scrypt$10$8$16$TmFDbA==$AAAA",
    ])
    func malformedAndCostlyHashesAreRefused(text: String) {
        #expect(ScryptHash(text: text) == nil)
    }
}

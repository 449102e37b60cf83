import ApusChatProtocol
import ApusJSON
import Testing

/// The errors of the HTTP routes of accounts and sessions, and passwords of any text.
@Suite("Refused requests of accounts")
struct AccountRefusalTests {
    private static let device: JSONValue = ["name": "Phone", "platform": "ios"]
    private static let register: JSONObject = ["name": "alice", "password": "12345678", "device": device]
    private static let login: JSONObject = ["name": "alice", "password": "1", "device": device]
    private static let password: JSONObject = ["old": "1", "new": "12345678", "device": device]

    // MARK: Accounts

    @Test(
        arguments: [
            .missing("name"), .missing("password"), .missing("device"), .invalid("name", "a b", Rule.user), .invalid("name", "", Rule.user),
            .invalid("name", "аlice", Rule.user), .invalid("name", .string(String(repeating: "a", count: 33)), Rule.user),
            .invalid("password", "", Rule.filled), .invalid("password", "1234567", "must have at least 8 Unicode scalars"),
            .invalid("password", Wire.text(7), "must have at least 8 Unicode scalars"), .invalid("password", 12_345_678, Rule.string),
            .invalid("password", "1234567\u{0}", "must not contain control characters"),
            .invalid("password", "1234\n5678", "must not contain control characters"),
            .invalid("password", "\u{7F}12345678", "must not contain control characters"),
            .invalid("password", "12345678\u{85}", "must not contain control characters"),
            .tooLarge("password", Wire.text(1_025), Rule.scalars(1_024)), .invalid("nick", "", Rule.shown),
            .invalid("nick", "a\u{202E}b", Rule.shown), .tooLarge("nick", Wire.text(51), Rule.scalars(50)),
            .invalid("invitation", "", Rule.filled), .tooLarge("invitation", Wire.text(101), Rule.scalars(100)),
            .invalid("device", "Phone", Rule.object), .missing("device", ["platform": "ios"], at: "device.name"),
            .missing("device", ["name": "Phone"], at: "device.platform"),
            .tooLarge("device", ["name": Wire.text(51), "platform": "ios"], at: "device.name", Rule.scalars(50)),
            .tooLarge("device", ["name": "Phone", "platform": Wire.text(21)], at: "device.platform", Rule.scalars(20)),
            .invalid(
                "device", ["name": "Phone", "platform": "ios", "capabilities": ["a", ""]], at: "device.capabilities[1]", Rule.filled),
            .tooLarge(
                "device", ["name": "Phone", "platform": "ios", "capabilities": [Wire.text(41)]], at: "device.capabilities[0]",
                Rule.scalars(40)),
            .tooLarge(
                "device", ["name": "Phone", "platform": "ios", "capabilities": Wire.list("a", 41)], at: "device.capabilities",
                Rule.elements(40)),
        ] as [Refusal])
    func aRegistrationNamesItsWrongField(refusal: Refusal) { refusal.check(RegisterRequest.self, Self.register) }

    /// The length of a password is counted in scalars, and its characters are not changed.
    @Test(arguments: [
        "12345678", "        ", "鸟鸟鸟鸟鸟鸟鸟鸟", "e\u{301}e\u{301}e\u{301}e\u{301}", "\u{E9}\u{E9}\u{E9}\u{E9}\u{E9}\u{E9}\u{E9}\u{E9}",
        "👩‍👩‍👧👩‍👩‍👧", "\u{202E}abcdefgh", " pass word ", String(repeating: "鸟", count: 1_024),
    ])
    func aPasswordIsKeptAsItIs(password: String) throws {
        let register = try RegisterRequest(json: ["name": "alice", "password": .string(password), "device": Self.device])
        let change = try PasswordRequest(json: ["old": .string(password), "new": .string(password), "device": Self.device])
        for read in [register.password, change.password, change.old ?? ""] { #expect(read.utf8.elementsEqual(password.utf8)) }
    }

    // MARK: Sessions

    /// A sign-in accepts a password of any length, so that an old one remains valid.
    @Test(
        arguments: [
            .missing("name"), .missing("password"), .missing("device"), .invalid("password", "", Rule.filled),
            .tooLarge("password", Wire.text(1_025), Rule.scalars(1_024)), .invalid("code", "", Rule.filled),
            .invalid("code", 123_456, Rule.string),
            .tooLarge("code", Wire.text(41), Rule.scalars(40)), .invalid("known", "", Rule.filled),
            .tooLarge("known", Wire.text(201), Rule.scalars(200)),
        ] as [Refusal])
    func aSignInNamesItsWrongField(refusal: Refusal) { refusal.check(LoginRequest.self, Self.login) }

    @Test(
        arguments: [
            .missing("refresh"), .invalid("refresh", "", Rule.filled), .tooLarge("refresh", Wire.text(201), Rule.scalars(200)),
            .invalid("refresh", 1, Rule.string),
        ] as [Refusal])
    func aRenewalNamesItsToken(refusal: Refusal) {
        refusal.check(RefreshRequest.self, ["refresh": "r"])
        // The end of a session needs no token.
        if refusal.value != nil { refusal.check(LogoutRequest.self, [:]) }
    }

    @Test(
        arguments: [
            .missing("user"), .missing("device"), .missing("access"), .missing("access_expires_at"), .missing("refresh"),
            .invalid("access", "", Rule.filled), .tooLarge("access", Wire.text(201), Rule.scalars(200)),
            .invalid("refresh", "", Rule.filled), .invalid("known", "", Rule.filled), .invalid("device", "5", Rule.device),
            .missing("user", [:], at: "user.name"), .invalid("access_expires_at", "1", Rule.count),
            .tooLarge("recovery", Wire.list("c", 21), Rule.elements(20)), .invalid("recovery", ["c", ""], at: "recovery[1]", Rule.filled),
            .tooLarge("recovery", [Wire.text(41)], at: "recovery[0]", Rule.scalars(40)),
        ] as [Refusal])
    func aSessionNamesItsWrongField(refusal: Refusal) {
        refusal.check(
            SessionAnswer.self,
            ["user": ["name": "bob"], "device": "0000000000005", "access": "a", "access_expires_at": 5, "refresh": "r"])
    }

    // MARK: Passwords

    @Test(
        arguments: [
            .missing("new"), .missing("device"), .invalid("new", "", Rule.filled), .invalid("name", "a b", Rule.user),
            .invalid("new", "1234567", "must have at least 8 Unicode scalars"), .tooLarge("new", Wire.text(1_025), Rule.scalars(1_024)),
            .invalid("new", "12345678\u{0}", "must not contain control characters"),
            .invalid("old", "", Rule.filled), .tooLarge("old", Wire.text(1_025), Rule.scalars(1_024)),
            .invalid("recovery", "", Rule.filled),
            .tooLarge("recovery", Wire.text(41), Rule.scalars(40)),
            .invalid("recovery", "c", at: "old", "or `recovery` is required, but not both"),
            .invalid("old", nil, "or `recovery` is required, but not both"),
        ] as [Refusal])
    func aNewPasswordNamesItsWrongField(refusal: Refusal) { refusal.check(PasswordRequest.self, Self.password) }

    @Test(
        arguments: [
            .missing("password"), .invalid("password", "", Rule.filled), .tooLarge("password", Wire.text(1_025), Rule.scalars(1_024)),
        ] as [Refusal])
    func aConfirmationHasAPassword(refusal: Refusal) { refusal.check(ConfirmRequest.self, ["password": "1"]) }

    // MARK: Authenticators

    @Test(
        arguments: [.missing("code"), .invalid("code", "", Rule.filled), .tooLarge("code", Wire.text(41), Rule.scalars(40))] as [Refusal])
    func aCodeNamesItsWrongField(refusal: Refusal) { refusal.check(AuthenticatorCodeRequest.self, ["code": "123456"]) }

    @Test(
        arguments: [
            .missing("secret"), .missing("uri"), .invalid("secret", "", Rule.filled), .tooLarge("secret", Wire.text(65), Rule.scalars(64)),
            .invalid("uri", "", Rule.filled), .tooLarge("uri", Wire.text(1_501), Rule.scalars(1_500)),
        ] as [Refusal])
    func aSecretNamesItsWrongField(refusal: Refusal) { refusal.check(AuthenticatorAnswer.self, ["secret": "S", "uri": "otpauth://x"]) }

    // MARK: The server

    private static let limits = HelloLimits().json

    @Test(
        arguments: [
            .missing("name"), .missing("version"), .missing("limits"), .invalid("name", "", Rule.filled),
            .tooLarge("name", Wire.text(101), Rule.scalars(100)), .tooLarge("version", Wire.text(41), Rule.scalars(40)),
            .invalid("registration", 1, Rule.string), .invalid("features", "edit", Rule.array),
            .tooLarge("features", Wire.list("f", 101), Rule.elements(100)), .invalid("limits", [], Rule.object),
            .missing("limits", [:], at: "limits.request_bytes"), .invalid("push_key", "", Rule.filled),
            .tooLarge("push_key", Wire.text(101), Rule.scalars(100)),
        ] as [Refusal])
    func theServerNamesItsWrongField(refusal: Refusal) {
        refusal.check(ServerAnswer.self, ["name": "N", "version": "1", "registration": "open", "limits": Self.limits])
    }

    /// A client treats a way of registration of a later version as closed.
    @Test(arguments: [.none, "later", "unknown", "OPEN"] as [JSONValue?]) func aLaterWayOfRegistrationIsUnknown(value: JSONValue?) throws {
        var fields: JSONObject = ["name": "N", "version": "1", "limits": Self.limits]
        fields["registration"] = value
        let server = try ServerAnswer(json: .object(fields))
        #expect(server.registration == .unknown && server.features.isEmpty && server.pushKey == nil)
    }

    /// The limits of a server that sets none.
    @Test func theDefaultLimitsAreTheseNumbers() {
        #expect(
            Self.limits == [
                "request_bytes": 131_072, "text_length": 8_000, "blob_bytes": 104_857_600, "group_members": 10_000, "edit_seconds": 172_800,
                "recall_seconds": 172_800,
            ])
    }
}

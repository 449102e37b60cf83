import ApusChatProtocol
import ApusJSON
import Testing

/// The fields of the routes of accounts, and of `hello`.
@Suite struct AccountFieldsTests {
    private let device = HelloDevice(name: "Phone", platform: "ios", capabilities: ["calls"])
    private let deviceJSON: JSONValue = ["name": "Phone", "platform": "ios", "capabilities": ["calls"]]
    private let limits = HelloLimits(
        requestBytes: 1, textLength: 2, blobBytes: 3, groupMembers: 4, editSeconds: 5, recallSeconds: 6)
    private let limitsJSON: JSONValue = [
        "request_bytes": 1, "text_length": 2, "blob_bytes": 3, "group_members": 4, "edit_seconds": 5, "recall_seconds": 6,
    ]

    @Test func registrationsAndSignIns() throws {
        try Wire.check(
            RegisterRequest(name: Wire.bob, password: "secret 12", nick: "B", invitation: "I", device: self.device),
            ["name": "bob", "password": "secret 12", "nick": "B", "invitation": "I", "device": self.deviceJSON])
        try Wire.check(
            LoginRequest(name: Wire.bob, password: "secret 12", code: "123456", known: "k", device: self.device),
            ["name": "bob", "password": "secret 12", "code": "123456", "known": "k", "device": self.deviceJSON])
        try Wire.check(
            SessionAnswer(
                user: ChatUser(name: Wire.bob), device: Wire.device, access: "a", accessExpiresAt: 5, refresh: "r", known: "k",
                recovery: ["c1", "c2"]),
            [
                "user": ["name": "bob"], "device": "0000000000005", "access": "a", "access_expires_at": 5, "refresh": "r", "known": "k",
                "recovery": ["c1", "c2"],
            ])
        try Wire.check(RefreshRequest(refresh: "r"), ["refresh": "r"])
        try Wire.check(LogoutRequest(refresh: "r"), ["refresh": "r"])
        try Wire.check(LogoutRequest(), [:])
    }

    @Test func passwordsAndCodes() throws {
        try Wire.check(
            PasswordRequest(name: Wire.bob, recovery: "c", password: "new secret", device: self.device),
            ["name": "bob", "recovery": "c", "new": "new secret", "device": self.deviceJSON])
        try Wire.check(
            PasswordRequest(old: "old secret", password: "new secret", device: self.device),
            ["old": "old secret", "new": "new secret", "device": self.deviceJSON])
        try Wire.check(ConfirmRequest(password: "secret 12"), ["password": "secret 12"])
        try Wire.check(RecoveryAnswer(recovery: ["c1", "c2"]), ["recovery": ["c1", "c2"]])
        try Wire.check(AuthenticatorAnswer(secret: "S", uri: "otpauth://x"), ["secret": "S", "uri": "otpauth://x"])
        try Wire.check(AuthenticatorCodeRequest(code: "123456"), ["code": "123456"])
    }

    @Test(arguments: [
        (Registration.open, "open"), (.invitation, "invitation"), (.closed, "closed"),
    ])
    func theServerIsDescribed(registration: Registration, text: String) throws {
        try Wire.check(
            ServerAnswer(
                name: "N", version: "1.0", registration: registration, features: ["edit"], limits: self.limits, pushKey: "K"),
            [
                "name": "N", "version": "1.0", "registration": .string(text), "features": ["edit"], "limits": self.limitsJSON,
                "push_key": "K",
            ])
    }

    // MARK: Hello

    @Test func hello() throws {
        try Wire.check(
            HelloRequest(
                version: 1, features: ["edit"], frameBytes: 65_536, device: self.device, epoch: try Wire.token("e"),
                sync: SyncRequest(since: try Wire.token("s"))),
            [
                "version": 1, "features": ["edit"], "frame_bytes": 65_536, "device": self.deviceJSON, "epoch": "e",
                "sync": ["since": "s"],
            ])
        try Wire.check(
            HelloAnswer(
                version: 1, features: ["edit"], limits: self.limits, epoch: try Wire.token("e"), at: 7, user: ChatUser(name: Wire.bob),
                device: Wire.device, own: Wire.room, sync: SyncAnswer(heads: [], token: try Wire.token("t"))),
            [
                "version": 1, "features": ["edit"], "limits": self.limitsJSON, "epoch": "e", "at": 7, "user": ["name": "bob"],
                "device": "0000000000005", "self": Wire.conv, "sync": ["heads": [], "token": "t"],
            ])
    }
}

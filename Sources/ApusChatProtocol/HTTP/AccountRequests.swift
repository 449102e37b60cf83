/// `POST /api/register`: creates an account.
package struct RegisterRequest: Hashable, WireObject {
    /// The account name.
    package var name: UserName
    package var password: String
    /// The shown name.
    package var nick: String?
    /// The code of an invitation, if the server requires one.
    package var invitation: String?
    package var device: HelloDevice

    package init(name: UserName, password: String, nick: String? = nil, invitation: String? = nil, device: HelloDevice) {
        self.name = name
        self.password = password
        self.nick = nick
        self.invitation = invitation
        self.device = device
    }

    package init(from reader: WireReader) throws(WireError) {
        self.name = try reader.text("name")
        self.password = try reader.newPassword("password")
        self.nick = try reader.nicknameIfPresent("nick", maximum: ChatLimits.nickLength)
        self.invitation = try reader.stringIfPresent("invitation", minimum: 1, maximum: 100)
        self.device = try reader.object("device")
    }

    package func write(to writer: inout WireWriter) {
        writer.write("name", self.name)
        writer.write("password", self.password)
        writer.write("nick", ifPresent: self.nick)
        writer.write("invitation", ifPresent: self.invitation)
        writer.write("device", self.device)
    }
}

/// `POST /api/login`: begins a session.
package struct LoginRequest: Hashable, WireObject {
    /// The account name.
    package var name: UserName
    package var password: String
    /// The code of the authenticator (RFC 6238), or a recovery code.
    package var code: String?
    /// The `known` token of an earlier session of the user. With it, sign-in attempts from other
    /// devices do not delay this one.
    package var known: String?
    package var device: HelloDevice

    package init(name: UserName, password: String, code: String? = nil, known: String? = nil, device: HelloDevice) {
        self.name = name
        self.password = password
        self.code = code
        self.known = known
        self.device = device
    }

    package init(from reader: WireReader) throws(WireError) {
        self.name = try reader.text("name")
        self.password = try reader.string("password", minimum: 1, maximum: ChatLimits.longestPassword)
        self.code = try reader.stringIfPresent("code", minimum: 1, maximum: 40)
        self.known = try reader.stringIfPresent("known", minimum: 1, maximum: 200)
        self.device = try reader.object("device")
    }

    package func write(to writer: inout WireWriter) {
        writer.write("name", self.name)
        writer.write("password", self.password)
        writer.write("code", ifPresent: self.code)
        writer.write("known", ifPresent: self.known)
        writer.write("device", self.device)
    }
}

/// The answer to the routes that begin or renew a session.
package struct SessionAnswer: Hashable, WireObject {
    /// The signed-in user.
    package var user: ChatUser
    package var device: DeviceID
    /// The access token, for the field `Authorization` and for the `auth` of Socket.IO.
    package var access: String
    /// The time at which the access token expires, in milliseconds since 1970. The expiry does not
    /// close an open connection.
    package var accessExpiresAt: Int64
    /// The token that renews the session. It can be used once.
    package var refresh: String
    /// A token that shows, at a later sign-in, that the user has signed in on this device before.
    /// It does not open a session.
    package var known: String?
    /// The recovery codes of a new account, which are shown once.
    package var recovery: [String]

    package init(
        user: ChatUser, device: DeviceID, access: String, accessExpiresAt: Int64, refresh: String, known: String? = nil,
        recovery: [String] = []
    ) {
        self.user = user
        self.device = device
        self.access = access
        self.accessExpiresAt = accessExpiresAt
        self.refresh = refresh
        self.known = known
        self.recovery = recovery
    }

    package init(from reader: WireReader) throws(WireError) {
        self.user = try reader.object("user")
        self.device = try reader.text("device")
        self.access = try reader.string("access", minimum: 1, maximum: 200)
        self.accessExpiresAt = try reader.integer("access_expires_at")
        self.refresh = try reader.string("refresh", minimum: 1, maximum: 200)
        self.known = try reader.stringIfPresent("known", minimum: 1, maximum: 200)
        self.recovery = try reader.strings("recovery", length: 40, maximum: 20)
    }

    package func write(to writer: inout WireWriter) {
        writer.write("user", self.user)
        writer.write("device", self.device)
        writer.write("access", self.access)
        writer.write("access_expires_at", self.accessExpiresAt)
        writer.write("refresh", self.refresh)
        writer.write("known", ifPresent: self.known)
        writer.write("recovery", ifAny: self.recovery)
    }
}

/// `POST /api/refresh`: renews a session. A retry with the previous token receives the same new
/// refresh token until one of the new tokens is used, and for at most 60 seconds. A later use of
/// the previous token ends the session.
package struct RefreshRequest: Hashable, WireObject {
    /// The refresh token.
    package var refresh: String

    package init(refresh: String) {
        self.refresh = refresh
    }

    package init(from reader: WireReader) throws(WireError) {
        self.refresh = try reader.string("refresh", minimum: 1, maximum: 200)
    }

    package func write(to writer: inout WireWriter) {
        writer.write("refresh", self.refresh)
    }
}

/// `POST /api/logout`: ends the session. Clients repeat the request until it is answered.
package struct LogoutRequest: Hashable, WireObject {
    /// The refresh token, for a request whose access token has expired.
    package var refresh: String?

    package init(refresh: String? = nil) {
        self.refresh = refresh
    }

    package init(from reader: WireReader) throws(WireError) {
        self.refresh = try reader.stringIfPresent("refresh", minimum: 1, maximum: 200)
    }

    package func write(to writer: inout WireWriter) {
        writer.write("refresh", ifPresent: self.refresh)
    }
}

/// `POST /api/password`: sets a password and ends all other sessions.
package struct PasswordRequest: Hashable, WireObject {
    /// The account name, for a request without a session.
    package var name: UserName?
    /// The current password.
    package var old: String?
    /// A recovery code, or the code of an operator's link.
    package var recovery: String?
    /// The new password.
    package var password: String
    package var device: HelloDevice

    package init(name: UserName? = nil, old: String? = nil, recovery: String? = nil, password: String, device: HelloDevice) {
        self.name = name
        self.old = old
        self.recovery = recovery
        self.password = password
        self.device = device
    }

    package init(from reader: WireReader) throws(WireError) {
        self.name = try reader.textIfPresent("name")
        self.old = try reader.stringIfPresent("old", minimum: 1, maximum: ChatLimits.longestPassword)
        self.recovery = try reader.stringIfPresent("recovery", minimum: 1, maximum: 40)
        self.password = try reader.newPassword("new")
        self.device = try reader.object("device")
        guard (self.old == nil) != (self.recovery == nil) else {
            throw WireError(.invalid, field: "old", rule: "or `recovery` is required, but not both")
        }
    }

    package func write(to writer: inout WireWriter) {
        writer.write("name", ifPresent: self.name)
        writer.write("old", ifPresent: self.old)
        writer.write("recovery", ifPresent: self.recovery)
        writer.write("new", self.password)
        writer.write("device", self.device)
    }
}

/// `POST /api/recovery`, `/api/totp`, `/api/totp/delete` and `/api/account/delete`: confirms an
/// action with the password.
package struct ConfirmRequest: Hashable, WireObject {
    package var password: String

    package init(password: String) {
        self.password = password
    }

    package init(from reader: WireReader) throws(WireError) {
        self.password = try reader.string("password", minimum: 1, maximum: ChatLimits.longestPassword)
    }

    package func write(to writer: inout WireWriter) {
        writer.write("password", self.password)
    }
}

/// The answer to `POST /api/recovery`: new recovery codes, which replace the current ones.
package struct RecoveryAnswer: Hashable, WireObject {
    /// The codes.
    package var recovery: [String]

    package init(recovery: [String]) {
        self.recovery = recovery
    }

    package init(from reader: WireReader) throws(WireError) {
        self.recovery = try reader.strings("recovery", length: 40, maximum: 20)
    }

    package func write(to writer: inout WireWriter) {
        writer.write("recovery", all: self.recovery)
    }
}

extension WireReader {
    /// Reads a password that is set. A sign-in accepts any password, so that one which was set
    /// earlier remains valid.
    fileprivate func newPassword(_ key: String) throws(WireError) -> String {
        let password = try self.string(key, minimum: 1, maximum: ChatLimits.longestPassword)
        guard password.unicodeScalars.count >= ChatLimits.passwordLength else {
            throw WireError(.invalid, field: key, rule: "must have at least \(ChatLimits.passwordLength) Unicode scalars")
        }
        // RFC 8265 section 4.2
        guard !password.unicodeScalars.contains(where: { $0.properties.generalCategory == .control }) else {
            throw WireError(.invalid, field: key, rule: "must not contain control characters")
        }
        return password
    }
}

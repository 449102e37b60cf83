import ApusChatProtocol

extension ChatReference {
    /// The answer of the routes that begin or renew a session.
    private static let session: [Field] = [
        .must("user", .shape("User"), "The user of the session."),
        .must("device", .device, "The device."),
        .must(
            "access", .words(200),
            "The access token, for the field `Authorization` and for the `auth` of Socket.IO; `cookie` if the token is in a cookie."),
        .must("access_expires_at", .time, "The time at which the access token expires. An open connection is not closed then."),
        .must("refresh", .words(200), "The token that renews the session. It can be used once; `cookie` if the token is in a cookie."),
        .may(
            "known", .words(200),
            "A token that shows, at a later sign-in, that the user has signed in on this device before. It does not open a session."),
        .may("recovery", .list(.words(40), 20), "The recovery codes of a new account, which are shown once."),
    ]

    /// The routes of accounts and sessions.
    package static let routes = Self.accountRoutes + Self.authenticatorRoutes

    private static let accountRoutes = [
        Route(
            .get, "/api/sessions", "Requests the devices with a session, last used first, and whether sign-ins need a code.",
            needsSession: true,
            request: [], WireEmpty.self,
            answer: [
                .must("devices", .list(.shape("Device"), ChatLimits.devices), "The devices."),
                .may("authenticator", .bool, "Whether a sign-in needs a code of an authenticator."),
            ], DevicesAnswer.self,
            errors: [],
            example: #"{}"#,
            answers: #"""
                {"devices": [{"device": "2d3e4v5c6e7a8", "name": "Firefox on Linux", "platform": "web",
                 "at": 1790000000000, "last_seen": 1790000000000, "current": true}], "authenticator": true}
                """#),
        Route(
            .get, "/api/server", "Requests the properties that a client needs before it has a session.",
            needsSession: false,
            request: [], WireEmpty.self,
            answer: [
                .must("name", .words(ChatLimits.titleLength), "The name of the server."),
                .must("version", .words(40), "The version of the program."),
                .must("registration", .choice(Registration.self), "How users create accounts."),
                .may("features", .list(.words(40), 100), "The features of the server."),
                .must("limits", .shape("HelloLimits"), "The limits that a client needs before it sends requests."),
                .may(
                    "push_key", .words(100),
                    "The `applicationServerKey` of subscriptions for `push.set`, in base64url (RFC 8292). "
                        + "Absent if the server sends no pushes."),
            ], ServerAnswer.self,
            errors: [],
            example: #"{}"#,
            answers: #"""
                {"name": "Apus", "version": "1.0", "registration": "open", "features": ["edit"],
                 "limits": {"request_bytes": 131072, "text_length": 8000, "blob_bytes": 104857600,
                 "group_members": 10000, "edit_seconds": 172800, "recall_seconds": 172800}}
                """#),
        Route(
            .post, "/api/register", "Creates an account. The password has at least 8 Unicode scalars and no control characters.",
            needsSession: false,
            request: [
                .must("name", .user, "The account name."),
                .must("password", .words(ChatLimits.longestPassword), "The password."),
                .may("nick", .words(ChatLimits.nickLength), "The shown name."),
                .may("invitation", .words(100), "The code of an invitation, if the server requires one."),
                .must("device", .shape("HelloDevice"), "The device."),
            ], RegisterRequest.self,
            answer: Self.session, SessionAnswer.self,
            errors: [.forbidden, .conflict, .storage],
            example: #"""
                {"name": "alice", "password": "correct horse", "nick": "Alice",
                 "device": {"name": "Firefox on Linux", "platform": "web"}}
                """#,
            answers: #"""
                {"user": {"name": "alice"}, "device": "2d3e4v5c6e7a8", "access": "a.1",
                 "access_expires_at": 1790000900000, "refresh": "r.1", "recovery": ["k3v9-2m7q"]}
                """#),
        Route(
            .post, "/api/login",
            """
            Signs a user in. An unknown name and a wrong password get the same answer, `unauthorized`. A missing code \
            of the authenticator is `bad_request` with the field `code`.
            """,
            needsSession: false,
            request: [
                .must("name", .user, "The account name."),
                .must("password", .words(ChatLimits.longestPassword), "The password."),
                .may("code", .words(40), "The code of the authenticator (RFC 6238), or a recovery code."),
                .may(
                    "known", .words(200),
                    "The `known` token of an earlier session of the user. With it, sign-in attempts from other devices do not delay this one."
                ),
                .must("device", .shape("HelloDevice"), "The device."),
            ], LoginRequest.self,
            answer: Self.session, SessionAnswer.self,
            errors: [.forbidden, .storage],
            example: #"""
                {"name": "alice", "password": "correct horse", "device": {"name": "Firefox on Linux",
                 "platform": "web"}}
                """#,
            answers: #"""
                {"user": {"name": "alice"}, "device": "2d3e4v5c6e7a8", "access": "a.1",
                 "access_expires_at": 1790000900000, "refresh": "r.1"}
                """#),
        Route(
            .post, "/api/refresh",
            """
            Renews a session. The previous token gets the same answer for 60 seconds, or until the new token is used. \
            A later use of the previous token ends the session.
            """,
            needsSession: false,
            request: [
                .must("refresh", .words(200), "The refresh token.")
            ], RefreshRequest.self,
            answer: Self.session, SessionAnswer.self,
            errors: [.storage],
            example: #"{"refresh": "r.1"}"#,
            answers: #"""
                {"user": {"name": "alice"}, "device": "2d3e4v5c6e7a8", "access": "a.1",
                 "access_expires_at": 1790000900000, "refresh": "r.1"}
                """#),
        Route(
            .post, "/api/logout", "Ends the session. Clients repeat the request until it is answered.",
            needsSession: false,
            request: [
                .may("refresh", .words(200), "The refresh token, for a request whose access token has expired.")
            ], LogoutRequest.self,
            answer: [], WireEmpty.self,
            errors: [.storage],
            example: #"{"refresh": "r.1"}"#,
            answers: #"{}"#),
        Route(
            .post, "/api/password",
            "Sets a new password with the current one, a recovery code or the code of an operator, and ends all other sessions.",
            needsSession: false,
            request: [
                .may("name", .user, "The account name, for a request without a session."),
                .may("old", .words(ChatLimits.longestPassword), "The current password."),
                .may("recovery", .words(40), "A recovery code, or the code of an operator's link."),
                .must("new", .words(ChatLimits.longestPassword), "The new password."),
                .must("device", .shape("HelloDevice"), "The device."),
            ], PasswordRequest.self,
            answer: Self.session, SessionAnswer.self,
            errors: [.forbidden, .storage],
            example: #"""
                {"old": "correct horse", "new": "battery staple", "device": {"name": "Firefox on Linux",
                 "platform": "web"}}
                """#,
            answers: #"""
                {"user": {"name": "alice"}, "device": "2d3e4v5c6e7a8", "access": "a.1",
                 "access_expires_at": 1790000900000, "refresh": "r.1"}
                """#),
        Route(
            .post, "/api/recovery", "Replaces the recovery codes.",
            needsSession: true,
            request: [
                .must("password", .words(ChatLimits.longestPassword), "The password.")
            ], ConfirmRequest.self,
            answer: [
                .must("recovery", .list(.words(40), 20), "The codes.")
            ], RecoveryAnswer.self,
            errors: [.forbidden, .storage],
            example: #"{"password": "battery staple"}"#,
            answers: #"{"recovery": ["k3v9-2m7q"]}"#),
        Route(
            .post, "/api/account/delete",
            "Deletes the account. The content of its messages is removed, and its name is never assigned again.",
            needsSession: true,
            request: [
                .must("password", .words(ChatLimits.longestPassword), "The password.")
            ], ConfirmRequest.self,
            answer: [], WireEmpty.self,
            errors: [.forbidden, .storage],
            example: #"{"password": "battery staple"}"#,
            answers: #"{}"#),
    ]
}

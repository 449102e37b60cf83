import ApusChatProtocol

extension ChatReference {
    /// The routes that manage the second factor, a code from an authenticator (RFC 6238).
    static let authenticatorRoutes = [
        Route(
            .post, "/api/totp",
            """
            Creates the secret of an authenticator. Sign-ins need a code after the first code is confirmed. Another \
            request replaces a secret that is not confirmed.
            """,
            needsSession: true,
            request: [
                .must("password", .words(ChatLimits.longestPassword), "The password.")
            ], ConfirmRequest.self,
            answer: [
                .must("secret", .words(64), "The secret in base32."),
                .must("uri", .words(1_500), "The secret as an `otpauth` URI, which authenticators read from a QR code."),
            ], AuthenticatorAnswer.self,
            errors: [.forbidden, .conflict, .storage],
            example: #"{"password": "battery staple"}"#,
            answers: #"""
                {"secret": "JBSWY3DPEHPK3PXP",
                 "uri": "otpauth://totp/Apus:alice?secret=JBSWY3DPEHPK3PXP&issuer=Apus"}
                """#),
        Route(
            .post, "/api/totp/confirm", "Confirms the secret with a code of the authenticator. From then on, each sign-in needs a code.",
            needsSession: true,
            request: [
                .must("code", .words(40), "The code.")
            ], AuthenticatorCodeRequest.self,
            answer: [], WireEmpty.self,
            errors: [.forbidden, .notFound, .storage],
            example: #"{"code": "123456"}"#,
            answers: #"{}"#),
        Route(
            .post, "/api/totp/delete", "Removes the authenticator.",
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

import ApusChatProtocol
import HTTPTypes
import Hummingbird

extension ChatRoutes {
    func addAccountRoutes(to router: Router<Context>) {
        router.post("/api/register") { request, context in
            let body = try await request.object(RegisterRequest.self, upTo: Self.accountBytes)
            return try self.begun(try await self.accounts.register(body, from: context.client), request)
        }
        router.post("/api/login") { request, context in
            var body = try await request.object(LoginRequest.self, upTo: Self.accountBytes)
            if body.known == nil { body.known = SessionCookies(changing: request)?.value("known", of: request) }
            return try self.begun(try await self.accounts.login(body, from: context.client), request)
        }
        router.post("/api/refresh") { request, context in
            var body = try await request.object(RefreshRequest.self, upTo: Self.accountBytes)
            // A script must not receive the successor of a token that it cannot read.
            let isCookie = body.refresh == SessionCookies.placeholder
            body.refresh = self.token(body.refresh, request) ?? ""
            return try self.begun(try await self.accounts.refresh(body, from: context.client), request, isCookie: isCookie)
        }
        router.post("/api/logout") { request, context in
            let body = try await request.object(LogoutRequest.self, upTo: Self.accountBytes)
            // The session may have expired, which has the same effect as a logout.
            let session = try? await self.sessionIfPresent(of: request)
            try await self.accounts.logout(
                refresh: self.token(body.refresh ?? SessionCookies.placeholder, request), session: session, from: context.client)
            var response = try Response.json(WireEmpty())
            SessionCookies(changing: request)?.remove(from: &response)
            return response
        }
        router.post("/api/password") { request, context in
            let body = try await request.object(PasswordRequest.self, upTo: Self.accountBytes)
            let session = body.recovery == nil || body.name == nil ? try await self.sessionIfPresent(of: request) : nil
            return try self.begun(try await self.accounts.setPassword(body, session: session, from: context.client), request)
        }
        router.post("/api/recovery") { request, context in
            let session = try await self.session(of: request)
            let body = try await request.object(ConfirmRequest.self, upTo: Self.accountBytes)
            return try Response.json(try await self.accounts.makeRecoveryCodes(body, session: session, from: context.client))
        }
        router.post("/api/account/delete") { request, context in
            let session = try await self.session(of: request)
            let body = try await request.object(ConfirmRequest.self, upTo: Self.accountBytes)
            try await self.accounts.delete(body, session: session, from: context.client)
            return try Response.json(WireEmpty())
        }
        self.addAuthenticatorRoutes(to: router)
    }

    private func addAuthenticatorRoutes(to router: Router<Context>) {
        router.post("/api/totp") { request, context in
            let session = try await self.session(of: request)
            let body = try await request.object(ConfirmRequest.self, upTo: Self.accountBytes)
            return try Response.json(try await self.accounts.makeAuthenticator(body, session: session, from: context.client))
        }
        router.post("/api/totp/confirm") { request, _ in
            let session = try await self.session(of: request)
            let body = try await request.object(AuthenticatorCodeRequest.self, upTo: Self.accountBytes)
            try await self.accounts.confirmAuthenticator(body, session: session)
            return try Response.json(WireEmpty())
        }
        router.post("/api/totp/delete") { request, context in
            let session = try await self.session(of: request)
            let body = try await request.object(ConfirmRequest.self, upTo: Self.accountBytes)
            try await self.accounts.removeAuthenticator(body, session: session, from: context.client)
            return try Response.json(WireEmpty())
        }
    }

    /// Returns the response that begins or renews a session. The tokens are in cookies if the
    /// server's own page requests it.
    ///
    /// - Parameter isCookie: Whether the token that was renewed is in a cookie.
    private func begun(_ answer: SessionAnswer, _ request: Request, isCookie: Bool = false) throws -> Response {
        guard isCookie || request.headers[.chatSession] == SessionCookies.placeholder, let cookies = SessionCookies(changing: request)
        else {
            return try Response.json(answer)
        }
        return try cookies.take(answer, lifetime: self.accounts.configuration.sessionLifetime)
    }

    /// Returns the refresh token of a request. The placeholder stands for the token of the cookie.
    private func token(_ token: String, _ request: Request) -> String? {
        token == SessionCookies.placeholder ? SessionCookies(changing: request)?.value("refresh", of: request) : token
    }
}

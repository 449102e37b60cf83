import ApusChatProtocol

/// The tokens of a session. Renews the access token before it ends, once for all that wait.
///
/// A refresh token is used once, so its successor is stored before it is used. The server answers
/// the token before with the same successor for a minute, which covers a lost answer.
actor SessionTokens {
    private var account: StoredAccount
    private var isRejected = false
    private var renewal: Task<Result<String, ChatClientError>, Never>?
    private let http: any ChatHTTPTransport
    private let now: @Sendable () -> Int64
    private let save: @Sendable (StoredAccount) throws(ChatClientError) -> Void
    /// The time before its end at which an access token is renewed.
    private static let margin: Int64 = 60_000

    init(
        _ account: StoredAccount, http: any ChatHTTPTransport, now: @escaping @Sendable () -> Int64,
        save: @escaping @Sendable (StoredAccount) throws(ChatClientError) -> Void
    ) {
        self.account = account
        self.http = http
        self.now = now
        self.save = save
    }

    var refreshToken: String { self.account.refresh }

    /// The server did not accept the access token.
    func reject() { self.isRejected = true }

    /// Takes the tokens of a session that the server has begun anew.
    func adopt(_ session: SessionAnswer) throws(ChatClientError) {
        self.account.access = session.access
        self.account.accessExpiresAt = session.accessExpiresAt
        self.account.refresh = session.refresh
        self.isRejected = false
        try self.save(self.account)
    }

    /// Returns an access token that is valid, as far as is known here.
    func access() async throws(ChatClientError) -> String {
        if !self.isRejected, !self.account.access.isEmpty, self.account.accessExpiresAt - Self.margin > self.now() {
            return self.account.access
        }
        let renewal: Task<Result<String, ChatClientError>, Never>
        if let running = self.renewal {
            renewal = running
        } else {
            renewal = Task { await self.renew() }
            self.renewal = renewal
        }
        return try await renewal.value.get()
    }

    private func renew() async -> Result<String, ChatClientError> {
        defer { self.renewal = nil }
        do throws(ChatClientError) {
            let answer = try await self.http.post("/api/refresh", RefreshRequest(refresh: self.account.refresh).json, access: nil)
            let session = try ChatAnswer.read(answer, as: SessionAnswer.self, verb: "refresh")
            try self.adopt(session)
            return .success(session.access)
        } catch {
            return .failure(error)
        }
    }
}

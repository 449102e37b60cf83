import ApusChatProtocol

/// The tokens of a session. Renews the access token before it expires; concurrent callers share one
/// renewal.
///
/// A refresh token can be used once. Therefore, the new refresh token is stored before it is used.
/// If the answer is lost, the server returns the same new token for the old token for a minute.
actor SessionTokens {
    private var account: StoredAccount
    private var isRejected = false
    private var renewal: Task<Result<String, ChatClientError>, Never>?
    private let http: any ChatHTTPTransport
    private let now: @Sendable () -> Int64
    private let save: @Sendable (StoredAccount) throws(ChatClientError) -> Void
    /// The time before the expiry of an access token at which it is renewed, in milliseconds.
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

    /// Records that the server refused the access token.
    func reject() { self.isRejected = true }

    /// Stores the new tokens of the session.
    func adopt(_ session: SessionAnswer) throws(ChatClientError) {
        var account = self.account
        account.access = session.access
        account.accessExpiresAt = session.accessExpiresAt
        account.refresh = session.refresh
        try self.save(account)
        self.account = account
        self.isRejected = false
    }

    /// Returns an access token that has not expired and that the server has not refused, and renews
    /// it if necessary.
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

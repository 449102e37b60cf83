public import ApusChatProtocol
import ApusJSON
import Foundation

/// The secret of an authenticator (RFC 6238), for an application that shows codes.
public struct ChatAuthenticator: Sendable, Hashable {
    /// The secret in base32, to be typed.
    public var secret: String
    /// The secret as an `otpauth` URI, to be shown as a QR code.
    public var uri: String
}

extension ChatClient {
    /// Posts a request of the account and returns the answer.
    private func post<Answer: WireObject>(
        _ path: String, _ request: some WireObject, as type: Answer.Type
    ) async throws(ChatClientError) -> Answer {
        let access = try await self.engine.tokens.access()
        return try ChatAnswer.read(try await self.engine.http.post(path, request.json, access: access), as: type, verb: path)
    }

    // MARK: Password and second factor

    /// Sets a new password and ends the sessions of all other devices.
    ///
    /// - Parameters:
    ///   - old: The present password.
    ///   - new: The new password.
    public func changePassword(from old: String, to new: String) async throws(ChatClientError) {
        let configuration = self.engine.configuration
        let device = HelloDevice(name: configuration.deviceName, platform: configuration.platform)
        let session = try await self.post(
            "/api/password", PasswordRequest(old: old, password: new, device: device), as: SessionAnswer.self)
        // The server has begun this session anew, too: the tokens before are void.
        try await self.engine.tokens.adopt(session)
    }

    /// Makes a secret for an authenticator, which ``confirmAuthenticator(code:)`` turns on.
    ///
    /// - Parameter password: The password.
    /// - Returns: The secret, which is shown once.
    public func makeAuthenticator(password: String) async throws(ChatClientError) -> ChatAuthenticator {
        let answer = try await self.post("/api/totp", ConfirmRequest(password: password), as: AuthenticatorAnswer.self)
        return ChatAuthenticator(secret: answer.secret, uri: answer.uri)
    }

    /// Turns the authenticator on: from now on a sign-in needs a code of it.
    ///
    /// - Parameter code: A present code, which shows that the secret was taken over.
    public func confirmAuthenticator(code: String) async throws(ChatClientError) {
        _ = try await self.post("/api/totp/confirm", AuthenticatorCodeRequest(code: code), as: WireEmpty.self)
    }

    /// Turns the authenticator off.
    ///
    /// - Parameter password: The password.
    public func removeAuthenticator(password: String) async throws(ChatClientError) {
        _ = try await self.post("/api/totp/delete", ConfirmRequest(password: password), as: WireEmpty.self)
    }

    /// Makes new recovery codes, which replace the present ones.
    ///
    /// - Parameter password: The password.
    /// - Returns: The codes, which are shown once.
    public func makeRecoveryCodes(password: String) async throws(ChatClientError) -> [String] {
        try await self.post("/api/recovery", ConfirmRequest(password: password), as: RecoveryAnswer.self).recovery
    }

    // MARK: The account

    /// Deletes the account: its messages are blanked, and the name is never given again.
    /// ``ChatAccounts/delete(_:password:)`` also removes the local store.
    ///
    /// - Parameter password: The password.
    func deleteAccount(password: String) async throws(ChatClientError) {
        _ = try await self.post("/api/account/delete", ConfirmRequest(password: password), as: WireEmpty.self)
    }

    /// Writes the data of the account to a file, as a ZIP archive, with access for its owner only.
    ///
    /// - Parameter path: The path of the file. An existing file is replaced.
    public func export(to path: String) async throws(ChatClientError) {
        let bytes = try await self.engine.http.get("/api/account/export", access: try await self.engine.tokens.access())
        do {
            let file = URL(fileURLWithPath: path)
            try Data(bytes).write(to: file, options: .atomic)
            try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: path)
        } catch {
            throw ChatClientError(.badInput, message: "cannot write \(path): \(error.localizedDescription)")
        }
    }

    // MARK: Pictures

    /// Uploads a picture and shows it as that of the own user.
    ///
    /// - Parameters:
    ///   - path: The path of the file.
    ///   - type: The media type, for example `image/png`.
    public func setAvatar(file path: String, type: String) async throws(ChatClientError) {
        let blob = try await self.engine.upload(file: path, type: type)
        try await self.setProfile(avatar: .set(blob))
    }

    /// Removes the own picture.
    public func removeAvatar() async throws(ChatClientError) { try await self.setProfile(avatar: .remove) }

    /// Downloads the picture of a user; nil if the user has none, or does not show it.
    ///
    /// - Parameters:
    ///   - name: The user.
    ///   - size: The maximum side, in pixels. Default: the size of the upload.
    public func avatar(of name: UserName, size: Int? = nil) async throws(ChatClientError) -> [UInt8]? {
        guard let blob = await self.user(name)?.avatar else { return nil }
        let access = try await self.engine.tokens.access()
        return try await self.engine.http.download(blob, size: size, owner: .user(name), access: access)
    }
}

extension ChatConversation {
    /// Uploads a picture and shows it as that of the conversation.
    ///
    /// - Parameters:
    ///   - path: The path of the file.
    ///   - type: The media type, for example `image/png`.
    public func setAvatar(file path: String, type: String) async throws(ChatClientError) {
        let blob = try await self.engine.upload(file: path, type: type)
        try await self.set(avatar: .set(blob))
    }

    /// Downloads the picture of the conversation; nil if it has none.
    ///
    /// - Parameter size: The maximum side, in pixels. Default: the size of the upload.
    public func avatar(size: Int? = nil) async throws(ChatClientError) -> [UInt8]? {
        guard let blob = try await self.head.avatar else { return nil }
        let access = try await self.engine.tokens.access()
        return try await self.engine.http.download(blob, size: size, owner: .conversation(self.id), access: access)
    }
}

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
    ///
    /// - Throws: `wrongCredentials` if the password or the code that confirms the request is wrong.
    private func post<Answer: WireObject>(
        _ path: String, _ request: some WireObject, as type: Answer.Type
    ) async throws(ChatClientError) -> Answer {
        let access = try await self.engine.tokens.access()
        do throws(ChatClientError) {
            return try ChatAnswer.read(try await self.engine.http.post(path, request.json, access: access), as: type, verb: path)
        } catch {
            // In a session, `unauthorized` would mean that the session has ended.
            guard let refusal = error.serverError, refusal.code == .forbidden, let field = refusal.field, Self.proofs.contains(field)
            else { throw error }
            throw ChatClientError(.wrongCredentials, message: error.message, serverError: refusal, cause: error.cause)
        }
    }

    /// The fields that confirm a request of the account.
    private static let proofs: Set<String> = ["password", "old", "code"]

    // MARK: Password and second factor

    /// Sets a new password and ends the sessions of all other devices.
    ///
    /// - Parameters:
    ///   - old: The present password.
    ///   - new: The new password.
    /// - Throws: `wrongCredentials` if the present password is wrong.
    public func changePassword(from old: String, to new: String) async throws(ChatClientError) {
        let configuration = self.engine.configuration
        let device = HelloDevice(name: configuration.deviceName, platform: configuration.platform)
        let session = try await self.post(
            "/api/password", PasswordRequest(old: old, password: new, device: device), as: SessionAnswer.self)
        // The server has also replaced the tokens of this device.
        try await self.engine.tokens.adopt(session)
    }

    /// Creates the secret of an authenticator, which ``confirmAuthenticator(code:)`` enables.
    ///
    /// - Parameter password: The password of the account.
    /// - Returns: The secret, which is shown once.
    /// - Throws: `wrongCredentials` if the password is wrong.
    public func makeAuthenticator(password: String) async throws(ChatClientError) -> ChatAuthenticator {
        let answer = try await self.post("/api/totp", ConfirmRequest(password: password), as: AuthenticatorAnswer.self)
        return ChatAuthenticator(secret: answer.secret, uri: answer.uri)
    }

    /// Enables the authenticator. From now on, each sign-in needs one of its codes.
    ///
    /// - Parameter code: A current code, which proves that the authenticator has the secret.
    /// - Throws: `wrongCredentials` if the code is wrong.
    public func confirmAuthenticator(code: String) async throws(ChatClientError) {
        _ = try await self.post("/api/totp/confirm", AuthenticatorCodeRequest(code: code), as: WireEmpty.self)
    }

    /// Disables the authenticator.
    ///
    /// - Parameter password: The password of the account.
    /// - Throws: `wrongCredentials` if the password is wrong.
    public func removeAuthenticator(password: String) async throws(ChatClientError) {
        _ = try await self.post("/api/totp/delete", ConfirmRequest(password: password), as: WireEmpty.self)
    }

    /// Creates new recovery codes, which replace the current ones.
    ///
    /// - Parameter password: The password of the account.
    /// - Returns: The codes, which are shown once.
    /// - Throws: `wrongCredentials` if the password is wrong.
    public func makeRecoveryCodes(password: String) async throws(ChatClientError) -> [String] {
        try await self.post("/api/recovery", ConfirmRequest(password: password), as: RecoveryAnswer.self).recovery
    }

    // MARK: The account

    /// Deletes the account on the server. The content of its messages is removed, and its name is
    /// never assigned again. ``ChatAccounts/delete(_:password:)`` also removes the local store.
    ///
    /// - Parameter password: The password of the account.
    func deleteAccount(password: String) async throws(ChatClientError) {
        _ = try await self.post("/api/account/delete", ConfirmRequest(password: password), as: WireEmpty.self)
    }

    /// Writes the data of the account to a ZIP archive that only the owner of the file can access.
    ///
    /// - Parameter path: The path of the file. An existing file is replaced.
    public func export(to path: String) async throws(ChatClientError) {
        try await self.engine.http.save("/api/account/export", to: path, access: try await self.engine.tokens.access())
    }

    // MARK: Pictures

    /// Uploads a picture and sets it as the user's picture.
    ///
    /// - Parameters:
    ///   - path: The path of the file.
    ///   - type: The media type, for example `image/png`.
    public func setAvatar(file path: String, type: String) async throws(ChatClientError) {
        let blob = try await self.engine.upload(file: path, type: type)
        try await self.setProfile(avatar: .set(blob))
    }

    /// Removes the user's picture.
    public func removeAvatar() async throws(ChatClientError) { try await self.setProfile(avatar: .remove) }

    /// Downloads the picture of a user; nil if the user has none, does not show it, or has a
    /// profile that is not known yet (``user(_:)``).
    ///
    /// - Parameters:
    ///   - name: The user.
    ///   - size: The maximum width and height, in pixels. Default: the size of the upload.
    public func avatar(of name: UserName, size: Int? = nil) async throws(ChatClientError) -> [UInt8]? {
        try await self.engine.picture(await self.user(name)?.avatar, of: .user(name), size: size)
    }

    /// Downloads the picture of a conversation that the directory lists; nil if it has none.
    ///
    /// - Parameters:
    ///   - entry: The entry of the directory.
    ///   - size: The maximum width and height, in pixels. Default: the size of the upload.
    public func avatar(of entry: DirectoryEntry, size: Int? = nil) async throws(ChatClientError) -> [UInt8]? {
        try await self.engine.picture(entry.avatar, of: .conversation(entry.conversation), size: size)
    }

    /// Downloads the picture of the conversation to which an invite link leads; nil if it has none.
    ///
    /// - Parameters:
    ///   - code: The code of the link.
    ///   - size: The maximum width and height, in pixels. Default: the size of the upload.
    public func avatar(of code: LinkCode, size: Int? = nil) async throws(ChatClientError) -> [UInt8]? {
        try await self.engine.picture(try await self.info(of: code).avatar, of: .link(code), size: size)
    }
}

extension ChatConversation {
    /// Uploads a picture and sets it as the picture of the conversation.
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
    /// - Parameter size: The maximum width and height, in pixels. Default: the size of the upload.
    public func avatar(size: Int? = nil) async throws(ChatClientError) -> [UInt8]? {
        try await self.engine.picture(try await self.head.avatar, of: .conversation(self.id), size: size)
    }
}

extension ChatEngine {
    /// Downloads the picture of a user or a conversation; nil if `blob` is nil.
    fileprivate func picture(_ blob: BlobID?, of owner: BlobOwner, size: Int?) async throws(ChatClientError) -> [UInt8]? {
        guard let blob else { return nil }
        return try await self.http.download(blob, size: size, owner: owner, access: try await self.tokens.access())
    }
}

import ApusChatCore
import ApusChatProtocol
import ApusChatStorage
import NIOConcurrencyHelpers

/// Links to blobs for programs that cannot send a session, such as the player of a `<video>`.
///
/// A link names a user, a device and a blob. It permits what that user may read when it is used. It
/// ends with the session of the device, and with the membership in the conversation.
extension Accounts {
    /// The time for which a link is valid, in milliseconds: the default lifetime of an access
    /// token.
    static let linkLifetime: Int64 = 900_000
    /// The time by which the clock may be set back without ending links, in milliseconds.
    private static let linkTolerance: Int64 = 60_000

    private static let invalidLink = ChatError(
        .unauthorized, message: "The link has expired, or it is not valid for this file. Request a new one.")

    /// Creates a link.
    func link(to blob: BlobID, of session: AccountSession) -> SessionTokens.Link {
        SessionTokens.Link(user: session.user, device: session.device, expiresAt: self.clock.now() + Self.linkLifetime)
    }

    /// Returns the session of the user that created a link.
    ///
    /// - Throws: `unauthorized` if the link is not valid for the blob or has expired, or if its
    ///   session was ended.
    func session(link text: String, to blob: BlobID) async throws -> AccountSession {
        let now = self.clock.now()
        guard let link = self.tokens.link(text, to: blob), link.expiresAt > now,
            link.expiresAt <= now + Self.linkLifetime + Self.linkTolerance
        else { throw Self.invalidLink }
        if case .ended = self.cache.withLockedValue({ $0.find(link.device) }) { throw Self.invalidLink }
        let isValid = try await self.database.read { reads in
            try reads.device(link.device)?.user == link.user && reads.accounts([link.user]).first?.state == .active
        }
        guard isValid, self.cache.withLockedValue({ $0.find(link.device) }) != .ended else { throw Self.invalidLink }
        return AccountSession(user: link.user, device: link.device, expiresAt: link.expiresAt)
    }
}

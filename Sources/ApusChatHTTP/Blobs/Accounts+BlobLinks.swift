import ApusChatCore
import ApusChatProtocol
import ApusChatStorage
import NIOConcurrencyHelpers

/// Links to blobs for programs that cannot send a session, such as the player of a `<video>`.
///
/// A link identifies a user, a device and a blob. It gives access only while the user may read the
/// blob. It becomes invalid after `linkLifetime`, and when the session of the device ends.
extension Accounts {
    /// The time for which a link is valid, in milliseconds: the same as for an access token.
    var linkLifetime: Int64 { self.configuration.accessLifetime }
    /// The time by which the clock may be set back without ending links, in milliseconds.
    private static let linkTolerance: Int64 = 60_000

    private static let invalidLink = ChatError(
        .unauthorized, message: "The link has expired, or it is not valid for this file. Request a new one.")

    /// Creates a link.
    func link(to blob: BlobID, of session: AccountSession) -> SessionTokens.Link {
        SessionTokens.Link(user: session.user, device: session.device, expiresAt: self.clock.now() + self.linkLifetime)
    }

    /// Returns the session of the user who created a link.
    ///
    /// - Throws: `unauthorized` if the link is not valid for the blob or has expired, or if its
    ///   session was ended.
    func session(link text: String, to blob: BlobID) async throws -> AccountSession {
        let now = self.clock.now()
        guard let link = self.tokens.link(text, to: blob), link.expiresAt > now,
            link.expiresAt <= now + self.linkLifetime + Self.linkTolerance
        else { throw Self.invalidLink }
        if case .ended = self.cache.withLockedValue({ $0.find(link.device) }) { throw Self.invalidLink }
        let isValid = try await self.database.read { reads in
            try reads.device(link.device)?.user == link.user && reads.accounts([link.user]).first?.state == .active
        }
        guard isValid, self.cache.withLockedValue({ $0.find(link.device) }) != .ended else { throw Self.invalidLink }
        return AccountSession(user: link.user, device: link.device, expiresAt: link.expiresAt)
    }
}

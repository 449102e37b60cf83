package import ApusChatProtocol

/// What a batch writes about sign-ins and uploads. Removals apply before additions.
package struct CredentialChanges: Sendable {
    package var credentials: [CredentialRow] = []
    package var removedCredentials: [UserKey] = []
    package var devices: [DeviceRow] = []
    package var removedDevices: [DeviceKey] = []
    /// New subscriptions of devices that exist; nil removes one.
    package var pushes: [(device: DeviceKey, subscription: String?)] = []
    /// The users whose codes of a purpose are removed.
    package var clearedCodes: [(user: UserKey, purpose: CodeRow.Purpose)] = []
    package var removedCodes: [CodeRow] = []
    package var codes: [CodeRow] = []
    /// An invitation without uses left is removed.
    package var invitations: [InvitationRow] = []
    /// New uploads. Bytes that the user has uploaded before are not counted again.
    package var uploads: [(blob: BlobRow, user: UserKey)] = []
    /// Blobs without references, whose bytes are given back to their uploaders.
    package var collectedBlobs: [BlobID] = []

    package init() {}

    package var isEmpty: Bool {
        self.credentials.isEmpty && self.removedCredentials.isEmpty && self.devices.isEmpty && self.removedDevices.isEmpty
            && self.clearedCodes.isEmpty && self.removedCodes.isEmpty && self.codes.isEmpty && self.invitations.isEmpty
            && self.pushes.isEmpty && self.uploads.isEmpty && self.collectedBlobs.isEmpty
    }
}

package import ApusChatProtocol

/// The changes of a batch to sign-ins and uploads. Removals are applied before additions.
package struct CredentialChanges: Sendable {
    package var credentials: [CredentialRow] = []
    package var removedCredentials: [UserKey] = []
    package var devices: [DeviceRow] = []
    package var removedDevices: [DeviceKey] = []
    /// New push subscriptions of existing devices; nil removes the subscription.
    package var pushes: [(device: DeviceKey, subscription: String?)] = []
    /// The users whose codes with the given purpose are removed.
    package var clearedCodes: [(user: UserKey, purpose: CodeRow.Purpose)] = []
    package var removedCodes: [CodeRow] = []
    package var codes: [CodeRow] = []
    /// Changed invitations. An invitation without remaining uses is removed.
    package var invitations: [InvitationRow] = []
    /// New uploads. A blob that the user has already uploaded does not count again for the quota.
    package var uploads: [(blob: BlobRow, user: UserKey)] = []
    /// Blobs without references. They are removed, and the quotas of their uploaders are reduced.
    package var collectedBlobs: [BlobID] = []

    package init() {}

    package var isEmpty: Bool {
        self.credentials.isEmpty && self.removedCredentials.isEmpty && self.devices.isEmpty && self.removedDevices.isEmpty
            && self.clearedCodes.isEmpty && self.removedCodes.isEmpty && self.codes.isEmpty && self.invitations.isEmpty
            && self.pushes.isEmpty && self.uploads.isEmpty && self.collectedBlobs.isEmpty
    }
}

package import ApusChatProtocol

/// The rows of sign-ins and uploads in memory.
struct MemoryCredentials {
    var credentials: [UserKey: CredentialRow] = [:]
    var devices: [DeviceKey: DeviceRow] = [:]
    var codes: [UserKey: [[UInt8]: CodeRow]] = [:]
    var invitations: [[UInt8]: InvitationRow] = [:]
    var blobs: [BlobID: BlobRow] = [:]
    /// The numbers of blobs, in the order in which they were added. They are the cursors of pages.
    var blobNumbers: [BlobID: Int64] = [:]
    var lastBlobNumber: Int64 = 0
    var pushes: [DeviceKey: String] = [:]
}

extension MemoryStorage: CredentialReads {
    func write(_ changes: CredentialChanges) {
        for user in changes.removedCredentials { self.signIns.credentials[user] = nil }
        for device in changes.removedDevices {
            self.signIns.devices[device] = nil
            self.signIns.pushes[device] = nil
        }
        for (user, purpose) in changes.clearedCodes {
            self.signIns.codes[user] = self.signIns.codes[user]?.filter { $1.purpose != purpose }
        }
        for code in changes.removedCodes { self.signIns.codes[code.user]?[code.hash] = nil }
        for credential in changes.credentials { self.signIns.credentials[credential.user] = credential }
        for device in changes.devices { self.signIns.devices[device.key] = device }
        for (device, subscription) in changes.pushes where self.signIns.devices[device] != nil {
            self.signIns.pushes[device] = subscription
        }
        for code in changes.codes { self.signIns.codes[code.user, default: [:]][code.hash] = code }
        for invitation in changes.invitations { self.signIns.invitations[invitation.hash] = invitation.usesLeft > 0 ? invitation : nil }
        for (blob, user) in changes.uploads {
            if self.signIns.blobs[blob.id] == nil {
                self.signIns.blobs[blob.id] = blob
                self.signIns.lastBlobNumber += 1
                self.signIns.blobNumbers[blob.id] = self.signIns.lastBlobNumber
            }
            self.addUpload(BlobNeed(user: user, blob: blob.id))
        }
        for blob in changes.collectedBlobs where !self.isReferred(blob) {
            self.signIns.blobs[blob] = nil
            self.signIns.blobNumbers[blob] = nil
            self.uploads = self.uploads.filter { $0.blob != blob }
        }
    }

    package func credential(of user: UserKey) -> CredentialRow? { self.signIns.credentials[user] }

    package func device(_ key: DeviceKey) -> DeviceRow? { self.signIns.devices[key] }

    package func devices(of user: UserKey, limit: Int) -> [DeviceRow] {
        let own = self.signIns.devices.values.filter { $0.user == user }
        return Array(own.sorted { ($0.seenAt, $0.key) > ($1.seenAt, $1.key) }.prefix(limit))
    }

    package func pushDevices(of user: UserKey, limit: Int) -> [PushDeviceRow] {
        let rows = self.devices(of: user, limit: .max).compactMap { device in
            self.signIns.pushes[device.key].map { PushDeviceRow(key: device.key, user: user, subscription: $0) }
        }
        return Array(rows.prefix(limit))
    }

    package func pushDevices(after cursor: DeviceKey, limit: Int) -> [PushDeviceRow] {
        let rows = self.signIns.pushes.compactMap { key, subscription in
            self.signIns.devices[key].map { PushDeviceRow(key: key, user: $0.user, subscription: subscription) }
        }
        return Array(rows.filter { $0.key > cursor }.sorted { $0.key < $1.key }.prefix(limit))
    }

    package func code(_ hash: [UInt8], of user: UserKey) -> CodeRow? { self.signIns.codes[user]?[hash] }

    package func invitation(_ hash: [UInt8]) -> InvitationRow? { self.signIns.invitations[hash] }

    package func blob(_ id: BlobID) -> BlobRow? { self.signIns.blobs[id] }

    package func uploadedBytes(of user: UserKey) -> Int64 {
        self.uploads.reduce(0) { $0 + ($1.user == user ? self.signIns.blobs[$1.blob]?.size ?? 0 : 0) }
    }

    package func uploads(of user: UserKey, after cursor: Int64, limit: Int) -> UploadPage {
        let found = self.uploads.filter { $0.user == user }.compactMap { self.signIns.blobs[$0.blob] }
        let (blobs, next) = self.page(found, after: cursor, limit: limit)
        return UploadPage(blobs: blobs, next: next)
    }

    package func orphans(before time: Int64, after cursor: Int64, limit: Int) -> OrphanPage {
        let found = self.signIns.blobs.values.filter { $0.createdAt < time && !self.isReferred($0.id) }
        let (blobs, next) = self.page(found, after: cursor, limit: limit)
        return OrphanPage(blobs: blobs.map(\.id), next: next)
    }

    /// Returns the first blobs after a number, and the number of the last of them if further blobs
    /// follow.
    private func page(_ blobs: [BlobRow], after cursor: Int64, limit: Int) -> (blobs: [BlobRow], next: Int64?) {
        func number(_ blob: BlobRow) -> Int64 { self.signIns.blobNumbers[blob.id] ?? 0 }
        let rest = blobs.filter { number($0) > cursor }.sorted { number($0) < number($1) }
        let page = Array(rest.prefix(limit))
        return (page, rest.count > limit ? page.last.map(number) : nil)
    }

    private func isReferred(_ blob: BlobID) -> Bool {
        self.accountRows.values.contains { $0.avatar == blob }
            || self.conversations.values.contains { $0.row.profile.avatar == blob || $0.blobs[blob]?.isEmpty == false }
    }
}

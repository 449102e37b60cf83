package import ApusChatProtocol

/// The reads of sign-ins and uploads.
package protocol CredentialReads: AnyObject {
    func credential(of user: UserKey) throws(StorageError) -> CredentialRow?

    func device(_ key: DeviceKey) throws(StorageError) -> DeviceRow?

    /// Returns the devices of a user. The last used device is the first. Devices of the same time
    /// are in descending key order.
    func devices(of user: UserKey, limit: Int) throws(StorageError) -> [DeviceRow]

    /// Returns the devices of a user that have a push subscription, in the order of `devices`.
    func pushDevices(of user: UserKey, limit: Int) throws(StorageError) -> [PushDeviceRow]

    /// Returns devices with a push subscription, in key order.
    func pushDevices(after cursor: DeviceKey, limit: Int) throws(StorageError) -> [PushDeviceRow]

    /// Returns a code of a user by its hash.
    func code(_ hash: [UInt8], of user: UserKey) throws(StorageError) -> CodeRow?

    func invitation(_ hash: [UInt8]) throws(StorageError) -> InvitationRow?

    func blob(_ id: BlobID) throws(StorageError) -> BlobRow?

    /// Returns the number of bytes that a user has uploaded and that are still stored.
    func uploadedBytes(of user: UserKey) throws(StorageError) -> Int64

    /// Returns uploads of a user that are still stored, in the order in which the blobs were added.
    func uploads(of user: UserKey, after cursor: Int64, limit: Int) throws(StorageError) -> UploadPage

    /// Returns blobs that were uploaded before a time and to which no event, profile or
    /// conversation refers, in the order in which they were added.
    func orphans(before time: Int64, after cursor: Int64, limit: Int) throws(StorageError) -> OrphanPage
}

/// A page of blobs without references.
package struct OrphanPage: Sendable, Equatable {
    package var blobs: [BlobID]
    /// The position at which the next page continues; nil after the last page.
    package var next: Int64?

    package init(blobs: [BlobID], next: Int64?) {
        self.blobs = blobs
        self.next = next
    }
}

/// A page of the uploads of a user, which can be empty.
package struct UploadPage: Sendable, Equatable {
    package var blobs: [BlobRow]
    /// The position at which the next page continues; nil after the last page.
    package var next: Int64?

    package init(blobs: [BlobRow], next: Int64?) {
        self.blobs = blobs
        self.next = next
    }
}

/// The reads of the accounts service.
package typealias AccountReads = ChatReads & CredentialReads
/// The reads and writes of the accounts service.
package typealias AccountStorage = ChatStorage & CredentialReads

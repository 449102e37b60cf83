package import ApusChatProtocol

/// Keeps the bytes of blobs under their ids, which are hashes of the bytes.
///
/// The caller must not store and remove the same blob at the same time (``BlobClaims``).
package protocol BlobStore: Sendable {
    /// Stores the bytes of a file, which are durable when the method returns. Does nothing if the
    /// blob is stored already.
    ///
    /// - Parameters:
    ///   - path: The path of the file, which does not change.
    ///   - size: The size of the file, in bytes.
    func store(_ path: String, size: Int64, as blob: BlobID) async throws

    /// Returns the bytes of a range in order. The sequence ends early if the blob is shorter.
    ///
    /// - Throws: An error if the blob is missing, before any bytes are returned.
    func bytes(of blob: BlobID, _ range: ClosedRange<Int64>) async throws -> BlobBytes

    /// Removes the bytes of a blob. Does nothing if it is missing.
    func remove(_ blob: BlobID) async throws

    /// Returns the path of a blob on this machine; nil if the store is elsewhere.
    func path(of blob: BlobID) -> String?

    /// Records durably that the row of a blob will be removed, and then its bytes.
    func willRemove(_ blob: BlobID) async throws

    /// Removes the record of a blob whose bytes agree with its row: both exist, or neither does.
    func settle(_ blob: BlobID) async throws

    /// Returns the blobs that were stored or removed, including by an earlier run of the program,
    /// and are not settled.
    func unsettled() async throws -> [BlobID]

    /// Ends the work of the store.
    func close() async
}

extension BlobStore {
    package func close() async {}
}

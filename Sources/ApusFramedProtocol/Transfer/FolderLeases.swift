/// The leases and quotas of the uploads into one folder, and the expiry of unfinished files.
/// Performs no I/O.
package struct FolderLeases: Sendable {
    private struct Lease {
        var session: UInt64
        var isWhole: Bool
        /// The number of bytes that the transfer may still write.
        var outstanding: Int
    }

    private let limits: TransferLimits
    /// The leases by the name of the unfinished file, ``TransferOffer/partName``.
    private var leases: [String: Lease] = [:]
    /// The admitted bytes per session.
    private var sessionBytes: [UInt64: Int] = [:]

    package init(limits: TransferLimits = .init()) {
        self.limits = limits
    }

    /// The number of uploads with a lease.
    package var leaseCount: Int { self.leases.count }

    /// Admits an upload and grants its lease. Call ``released(_:)`` when the upload ends.
    ///
    /// - Parameters:
    ///   - offer: The file.
    ///   - session: The connection of the upload.
    ///   - existing: The number of bytes of the file that already exist.
    ///   - stored: The number of bytes in the folder, including unfinished files.
    ///   - free: The free space of the disk, in bytes.
    package mutating func admit(_ offer: TransferOffer, session: UInt64, existing: Int, stored: Int, free: Int) throws(TransferError) {
        guard self.leases[offer.partName] == nil else { throw TransferError(.busy, message: "the upload is already in progress") }
        let isWhole = offer.wholeHash != nil
        let count = self.leases.values.reduce(into: 0) { $0 += $1.session == session && $1.isWhole == isWhole ? 1 : 0 }
        let limit = isWhole ? WholeFile.maximumConcurrent : self.limits.transfersOfSession
        guard count < limit else {
            throw TransferError(.quota, message: "the connection has reached the maximum of \(count) transfers in progress")
        }
        guard offer.size <= self.limits.fileBytes else {
            throw TransferError(.quota, message: "the file has \(offer.size) bytes; the maximum is \(self.limits.fileBytes)")
        }
        let sent = self.sessionBytes[session] ?? 0
        guard Self.sum(sent, offer.size) <= self.limits.sessionBytes else {
            throw TransferError(
                .quota,
                message:
                    "the file has \(offer.size) bytes, and earlier files of this connection have \(sent); the maximum of one connection is \(self.limits.sessionBytes)"
            )
        }
        let needed = offer.size - min(max(existing, 0), offer.size)
        try self.checkRoom(for: needed, stored: stored, free: free)
        self.leases[offer.partName] = Lease(session: session, isWhole: isWhole, outstanding: needed)
        self.sessionBytes[session] = Self.sum(sent, offer.size)
    }

    /// Reserves space for the whole file of an upload that was admitted as already present, when
    /// the existing file turns out to differ.
    package mutating func reserve(_ offer: TransferOffer, stored: Int, free: Int) throws(TransferError) {
        guard let lease = self.leases[offer.partName] else { return }
        try self.checkRoom(for: max(0, offer.size - lease.outstanding), stored: stored, free: free)
        self.leases[offer.partName]?.outstanding = offer.size
    }

    private func checkRoom(for needed: Int, stored: Int, free: Int) throws(TransferError) {
        let promised = self.leases.values.reduce(needed) { Self.sum($0, $1.outstanding) }
        guard Self.sum(stored, promised) <= self.limits.totalBytes else {
            throw TransferError(
                .quota, message: "the file needs \(needed) more bytes; the maximum of the folder is \(self.limits.totalBytes)")
        }
        guard Self.sum(promised, self.limits.reservedBytes) <= free else {
            let taken = Self.sum(promised - needed, self.limits.reservedBytes)
            throw TransferError(
                .diskFull,
                message: "the file needs \(needed) more bytes; \(free) bytes are free, of which other uploads and the reserve take \(taken)"
            )
        }
    }

    /// Counts `count` written bytes of an upload as stored instead of outstanding.
    package mutating func wrote(_ count: Int, of partName: String) {
        guard let lease = self.leases[partName] else { return }
        self.leases[partName]?.outstanding = max(0, lease.outstanding - max(0, count))
    }

    /// Releases the lease of an upload, regardless of its outcome.
    package mutating func released(_ partName: String) {
        self.leases[partName] = nil
    }

    /// Handles the end of a connection. Its leases remain until they are released, because the disk
    /// may still be writing.
    package mutating func sessionEnded(_ session: UInt64) {
        self.sessionBytes[session] = nil
    }

    /// Returns the unfinished files to delete: those without a lease that are empty or older than
    /// the expiry.
    ///
    /// - Parameter parts: The names of the files, the time since the last write, and whether they
    ///   are empty.
    package func expired(_ parts: some Sequence<(name: String, idle: Duration, isEmpty: Bool)>) -> [String] {
        parts.filter { self.leases[$0.name] == nil && ($0.isEmpty || $0.idle >= self.limits.expiry) }.map(\.name)
    }

    private static func sum(_ left: Int, _ right: Int) -> Int {
        let (sum, overflow) = left.addingReportingOverflow(right)
        return overflow ? .max : sum
    }
}

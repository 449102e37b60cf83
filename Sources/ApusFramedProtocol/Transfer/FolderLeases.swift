/// Who writes what, and how much of it there may be: leases, quotas, and what is to be thrown away. Pure; one for a folder.
package struct FolderLeases: Sendable {
    private struct Lease {
        var session: UInt64
        var isWhole: Bool
        /// What the transfer may still need of the disk.
        var outstanding: Int
    }

    private let limits: TransferLimits
    /// By the name of the unfinished file, ``TransferOffer/partName``.
    private var leases: [String: Lease] = [:]
    /// By session; gone with its last mention.
    private var sessionBytes: [UInt64: Int] = [:]

    package init(limits: TransferLimits = .init()) {
        self.limits = limits
    }

    /// The uploads that somebody writes to.
    package var leaseCount: Int { self.leases.count }

    /// Lets an upload in; ``released(_:)`` must follow.
    ///
    /// - Parameters:
    ///   - offer: The file.
    ///   - session: The connection it comes over.
    ///   - existing: What there is of it already.
    ///   - stored: What stands in the folder, unfinished files included.
    ///   - free: What is free on the disk.
    package mutating func admit(_ offer: TransferOffer, session: UInt64, existing: Int, stored: Int, free: Int) throws(TransferError) {
        guard self.leases[offer.partName] == nil else { throw TransferError(.busy, message: "another sender is at this upload") }
        let isWhole = offer.wholeHash != nil
        let count = self.leases.values.reduce(into: 0) { $0 += $1.session == session && $1.isWhole == isWhole ? 1 : 0 }
        let most = isWhole ? WholeFile.maximumUnderWay : self.limits.transfersOfSession
        guard count < most else {
            throw TransferError(.quota, message: "\(count) transfers are under way, \(most) are taken at a time")
        }
        guard offer.size <= self.limits.fileBytes else {
            throw TransferError(.quota, message: "a file of \(offer.size) bytes, \(self.limits.fileBytes) are taken")
        }
        let sent = self.sessionBytes[session] ?? 0
        guard Self.sum(sent, offer.size) <= self.limits.sessionBytes else {
            throw TransferError(
                .quota, message: "\(offer.size) bytes after \(sent), \(self.limits.sessionBytes) are taken of one connection")
        }
        let needed = offer.size - min(max(existing, 0), offer.size)
        try self.checkRoom(for: needed, stored: stored, free: free)
        self.leases[offer.partName] = Lease(session: session, isWhole: isWhole, outstanding: needed)
        self.sessionBytes[session] = Self.sum(sent, offer.size)
    }

    /// Finds room for all of an upload that was admitted as one that is there already, and is not.
    package mutating func reserve(_ offer: TransferOffer, stored: Int, free: Int) throws(TransferError) {
        guard let lease = self.leases[offer.partName] else { return }
        try self.checkRoom(for: max(0, offer.size - lease.outstanding), stored: stored, free: free)
        self.leases[offer.partName]?.outstanding = offer.size
    }

    private func checkRoom(for needed: Int, stored: Int, free: Int) throws(TransferError) {
        let promised = self.leases.values.reduce(needed) { Self.sum($0, $1.outstanding) }
        guard Self.sum(stored, promised) <= self.limits.totalBytes else {
            throw TransferError(.quota, message: "\(needed) bytes more, \(self.limits.totalBytes) are taken in all")
        }
        guard Self.sum(promised, self.limits.reservedBytes) <= free else {
            throw TransferError(.diskFull, message: "\(needed) bytes more have no room on the disk")
        }
    }

    /// So many bytes more of an upload are on the disk: they count as stored from now on.
    package mutating func wrote(_ count: Int, of partName: String) {
        guard let lease = self.leases[partName] else { return }
        self.leases[partName]?.outstanding = max(0, lease.outstanding - max(0, count))
    }

    /// Nobody writes to the upload any more, whatever came of it.
    package mutating func released(_ partName: String) {
        self.leases[partName] = nil
    }

    /// A connection has ended. Its leases live until they are released: the disk may still be at work.
    package mutating func sessionEnded(_ session: UInt64) {
        self.sessionBytes[session] = nil
    }

    /// Which unfinished files are to be thrown away: nobody writes to them, and nobody has for long, or ever.
    ///
    /// - Parameter parts: Their names, the time since something was last written, and whether nothing is in them.
    package func expired(_ parts: some Sequence<(name: String, idle: Duration, isEmpty: Bool)>) -> [String] {
        parts.filter { self.leases[$0.name] == nil && ($0.isEmpty || $0.idle >= self.limits.expiry) }.map(\.name)
    }

    private static func sum(_ left: Int, _ right: Int) -> Int {
        let (sum, overflow) = left.addingReportingOverflow(right)
        return overflow ? .max : sum
    }
}

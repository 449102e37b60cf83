import ApusFramedProtocol
import Testing

@Suite struct TransferLedgerTests {
    private func offer(_ id: String, _ size: Int) throws(TransferError) -> TransferOffer {
        try TransferOffer(id: id, name: SafeFileName("a"), size: size)
    }

    private static func part(_ id: String) -> String { TransferOffer.partName(id: id) }

    private func admit(
        _ leases: inout FolderLeases, _ id: String, _ size: Int, session: UInt64 = 1, existing: Int = 0, stored: Int = 0, free: Int = .max
    ) -> TransferError.Code? {
        do throws(TransferError) {
            try leases.admit(self.offer(id, size), session: session, existing: existing, stored: stored, free: free)
            return nil
        } catch {
            return error.code
        }
    }

    @Test func anUploadHasOneWriter() {
        var leases = FolderLeases()
        #expect(self.admit(&leases, "a", 1) == nil)
        #expect(self.admit(&leases, "a", 1, session: 2) == .busy)
        #expect(self.admit(&leases, "b", 1, session: 2) == nil)
        leases.released(Self.part("a"))
        #expect(self.admit(&leases, "a", 1, session: 2) == nil)
        leases.sessionEnded(2)
        #expect(leases.leaseCount == 2)
        leases.released(Self.part("a"))
        leases.released(Self.part("b"))
        #expect(leases.leaseCount == 0)
    }

    @Test func quotas() {
        var limits = TransferLimits()
        limits.fileBytes = 100
        limits.sessionBytes = 150
        limits.totalBytes = 300
        limits.transfersOfSession = 2
        var leases = FolderLeases(limits: limits)
        #expect(self.admit(&leases, "a", 101) == .quota)
        #expect(self.admit(&leases, "a", 100) == nil)
        #expect(self.admit(&leases, "b", 51) == .quota)  // the limit of the session
        #expect(self.admit(&leases, "b", 50) == nil)
        #expect(self.admit(&leases, "c", 0) == .quota)  // the limit of concurrent transfers
        #expect(self.admit(&leases, "d", 100, session: 2, stored: 51) == .quota)  // the limit of the folder
        #expect(self.admit(&leases, "d", 100, session: 2, stored: 50) == nil)
        // The bytes of a session remain counted after its transfers.
        leases.released(Self.part("a"))
        leases.released(Self.part("b"))
        #expect(self.admit(&leases, "e", 1) == .quota)
        leases.sessionEnded(1)
        #expect(self.admit(&leases, "e", 1) == nil)
    }

    @Test func wholeFilesAreCountedApart() throws {
        var limits = TransferLimits()
        limits.transfersOfSession = 1
        var leases = FolderLeases(limits: limits)
        #expect(self.admit(&leases, "a", 1) == nil)
        for number in 0..<WholeFile.maximumConcurrent {
            let whole = try TransferOffer(
                id: "\(number)", name: SafeFileName("a"), size: 1, wholeHash: String(repeating: "a", count: 64))
            try leases.admit(whole, session: 1, existing: 0, stored: 0, free: .max)
        }
        let another = try TransferOffer(id: "b", name: SafeFileName("a"), size: 1, wholeHash: String(repeating: "a", count: 64))
        #expect(throws: TransferError.self) { try leases.admit(another, session: 1, existing: 0, stored: 0, free: .max) }
        try leases.admit(another, session: 2, existing: 0, stored: 0, free: .max)
        #expect(self.admit(&leases, "c", 1) == .quota)
    }

    @Test func theDiskKeepsAReserve() {
        var limits = TransferLimits()
        limits.reservedBytes = 10
        var leases = FolderLeases(limits: limits)
        #expect(self.admit(&leases, "a", 100, free: 109) == .diskFull)
        #expect(self.admit(&leases, "a", 100, free: 110) == nil)
        // Reserved space is not available to others; written bytes are counted by the disk.
        #expect(self.admit(&leases, "b", 10, free: 119) == .diskFull)
        leases.wrote(100, of: Self.part("a"))
        leases.wrote(100, of: "unknown")
        #expect(self.admit(&leases, "b", 10, free: 20) == nil)
        // Existing bytes need no space.
        #expect(self.admit(&leases, "c", 1000, existing: 995, free: 25) == nil)
        #expect(self.admit(&leases, "d", 10, existing: 50, free: 25) == nil)
    }

    @Test func noSumOverflows() {
        var leases = FolderLeases()
        #expect(self.admit(&leases, "a", .max) == .quota)
        var limits = TransferLimits()
        limits.fileBytes = .max
        var open = FolderLeases(limits: limits)
        #expect(self.admit(&open, "a", .max, stored: .max) == nil)
        #expect(self.admit(&open, "b", .max, stored: .max) == nil)
    }

    @Test func unfinishedFilesExpireUnlessTheyHaveALease() {
        var limits = TransferLimits()
        limits.expiry = .seconds(100)
        var leases = FolderLeases(limits: limits)
        _ = self.admit(&leases, "held", 1)
        let parts: [(name: String, idle: Duration, isEmpty: Bool)] = [
            (Self.part("held"), .seconds(500), true), ("old", .seconds(100), false), ("young", .seconds(99), false),
            ("empty", .zero, true),
        ]
        #expect(leases.expired(parts) == ["old", "empty"])
    }

    /// A file whose name exists is admitted without space, and needs it if its content differs.
    @Test func roomIsFoundLater() throws {
        var limits = TransferLimits()
        limits.reservedBytes = 0
        var leases = FolderLeases(limits: limits)
        #expect(self.admit(&leases, "a", 100, existing: 100, free: 0) == nil)
        #expect(throws: TransferError.self) { try leases.reserve(self.offer("a", 100), stored: 0, free: 99) }
        try leases.reserve(self.offer("a", 100), stored: 0, free: 100)
        try leases.reserve(self.offer("a", 100), stored: 0, free: 100)
        #expect(self.admit(&leases, "b", 1, free: 100) == .diskFull)
        leases.wrote(100, of: Self.part("a"))
        #expect(self.admit(&leases, "b", 1, free: 1) == nil)
    }
}

import ApusFramedProtocol
import Testing

@Suite struct TransferLedgerTests {
    private func offer(_ id: String, _ size: Int) throws(TransferError) -> TransferOffer {
        try TransferOffer(id: id, name: SafeFileName("a"), size: size)
    }

    private static func part(_ id: String) -> String { TransferOffer.partName(id: id) }

    private func admit(
        _ ledger: inout TransferLedger, _ id: String, _ size: Int, session: UInt64 = 1, existing: Int = 0, stored: Int = 0, free: Int = .max
    ) -> TransferError.Code? {
        do throws(TransferError) {
            try ledger.admit(self.offer(id, size), session: session, existing: existing, stored: stored, free: free)
            return nil
        } catch {
            return error.code
        }
    }

    @Test func anUploadHasOneWriter() {
        var ledger = TransferLedger()
        #expect(self.admit(&ledger, "a", 1) == nil)
        #expect(self.admit(&ledger, "a", 1, session: 2) == .busy)
        #expect(self.admit(&ledger, "b", 1, session: 2) == nil)
        ledger.released(Self.part("a"))
        #expect(self.admit(&ledger, "a", 1, session: 2) == nil)
        ledger.sessionEnded(2)
        #expect(ledger.leaseCount == 2)
        ledger.released(Self.part("a"))
        ledger.released(Self.part("b"))
        #expect(ledger.leaseCount == 0)
    }

    @Test func quotas() {
        var limits = TransferLimits()
        limits.fileBytes = 100
        limits.sessionBytes = 150
        limits.totalBytes = 300
        limits.transfersOfSession = 2
        var ledger = TransferLedger(limits: limits)
        #expect(self.admit(&ledger, "a", 101) == .quota)
        #expect(self.admit(&ledger, "a", 100) == nil)
        #expect(self.admit(&ledger, "b", 51) == .quota)  // of the session
        #expect(self.admit(&ledger, "b", 50) == nil)
        #expect(self.admit(&ledger, "c", 0) == .quota)  // at a time
        #expect(self.admit(&ledger, "d", 100, session: 2, stored: 51) == .quota)  // in all
        #expect(self.admit(&ledger, "d", 100, session: 2, stored: 50) == nil)
        // A session's bytes stay counted when its transfers are over.
        ledger.released(Self.part("a"))
        ledger.released(Self.part("b"))
        #expect(self.admit(&ledger, "e", 1) == .quota)
        ledger.sessionEnded(1)
        #expect(self.admit(&ledger, "e", 1) == nil)
    }

    @Test func wholeFilesAreCountedApart() throws {
        var limits = TransferLimits()
        limits.transfersOfSession = 1
        var ledger = TransferLedger(limits: limits)
        #expect(self.admit(&ledger, "a", 1) == nil)
        for number in 0..<WholeFile.maximumUnderWay {
            let whole = try TransferOffer(
                id: "\(number)", name: SafeFileName("a"), size: 1, wholeHash: String(repeating: "a", count: 64))
            try ledger.admit(whole, session: 1, existing: 0, stored: 0, free: .max)
        }
        let another = try TransferOffer(id: "b", name: SafeFileName("a"), size: 1, wholeHash: String(repeating: "a", count: 64))
        #expect(throws: TransferError.self) { try ledger.admit(another, session: 1, existing: 0, stored: 0, free: .max) }
        try ledger.admit(another, session: 2, existing: 0, stored: 0, free: .max)
        #expect(self.admit(&ledger, "c", 1) == .quota)
    }

    @Test func theDiskKeepsAReserve() {
        var limits = TransferLimits()
        limits.reservedBytes = 10
        var ledger = TransferLedger(limits: limits)
        #expect(self.admit(&ledger, "a", 100, free: 109) == .diskFull)
        #expect(self.admit(&ledger, "a", 100, free: 110) == nil)
        // What was promised to others is not there twice; what is written is counted by the disk.
        #expect(self.admit(&ledger, "b", 10, free: 119) == .diskFull)
        ledger.wrote(100, of: Self.part("a"))
        ledger.wrote(100, of: "nobody")
        #expect(self.admit(&ledger, "b", 10, free: 20) == nil)
        // What is there already needs no room.
        #expect(self.admit(&ledger, "c", 1000, existing: 995, free: 25) == nil)
        #expect(self.admit(&ledger, "d", 10, existing: 50, free: 25) == nil)
    }

    @Test func noSumOverflows() {
        var ledger = TransferLedger()
        #expect(self.admit(&ledger, "a", .max) == .quota)
        var limits = TransferLimits()
        limits.fileBytes = .max
        var open = TransferLedger(limits: limits)
        #expect(self.admit(&open, "a", .max, stored: .max) == nil)
        #expect(self.admit(&open, "b", .max, stored: .max) == nil)
    }

    @Test func abandonedPartsExpireUnlessSomebodyWritesToThem() {
        var limits = TransferLimits()
        limits.expiry = .seconds(100)
        var ledger = TransferLedger(limits: limits)
        _ = self.admit(&ledger, "held", 1)
        let parts: [(name: String, idle: Duration, isEmpty: Bool)] = [
            (Self.part("held"), .seconds(500), true), ("old", .seconds(100), false), ("young", .seconds(99), false),
            ("empty", .zero, true),
        ]
        #expect(ledger.expired(parts) == ["old", "empty"])
    }

    /// A file whose name is taken is admitted without room, and needs it when it is another.
    @Test func roomIsFoundLater() throws {
        var limits = TransferLimits()
        limits.reservedBytes = 0
        var ledger = TransferLedger(limits: limits)
        #expect(self.admit(&ledger, "a", 100, existing: 100, free: 0) == nil)
        #expect(throws: TransferError.self) { try ledger.reserve(self.offer("a", 100), stored: 0, free: 99) }
        try ledger.reserve(self.offer("a", 100), stored: 0, free: 100)
        try ledger.reserve(self.offer("a", 100), stored: 0, free: 100)
        #expect(self.admit(&ledger, "b", 1, free: 100) == .diskFull)
        ledger.wrote(100, of: Self.part("a"))
        #expect(self.admit(&ledger, "b", 1, free: 1) == nil)
    }
}

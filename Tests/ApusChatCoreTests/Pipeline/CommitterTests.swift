import ApusChatCore
import ApusChatProtocol
import ApusChatStorage
import Testing

@Suite struct CommitterTests {
    private func writing() -> Committer {
        var committer = Committer()
        #expect(committer.commandsWait() == .writeBatch)
        return committer
    }

    @Test func oneBatchIsWrittenAtATime() {
        var committer = self.writing()
        #expect(committer.commandsWait() == .wait)
        #expect(committer.batchWritten() == .acknowledge)
        #expect(committer.commandsWait() == .writeBatch)
    }

    @Test func nothingIsAcknowledgedWithoutABatch() {
        var committer = Committer()
        #expect(committer.batchWritten() == .doNothing)
        #expect(committer.batchFailed(.io, commands: 1) == .doNothing)
        #expect(committer.probeTimerFired() == .doNothing)
        #expect(committer.probeEnded(nil) == .doNothing)
    }

    @Test func aLostRaceIsDecidedAgainAFewTimes() {
        var committer = self.writing()
        #expect((1...3).map { _ in committer.batchFailed(.contention, commands: 1) } == [.decideAgain, .decideAgain, .decideAgain])
        guard case .refuseBatch(let error) = committer.batchFailed(.contention, commands: 1) else {
            Issue.record("a refusal expected")
            return
        }
        #expect(error.code == .storage)
        #expect(committer.health == .writable)
        #expect(committer.commandsWait() == .writeBatch)
    }

    @Test func aFaultOfTheProgramStopsNoOtherBatch() {
        var committer = self.writing()
        guard case .refuseBatch(let error) = committer.batchFailed(.invalidUse, commands: 1) else {
            Issue.record("a refusal expected")
            return
        }
        #expect(error.code == .internal)
        #expect(committer.commandsWait() == .writeBatch)
        // The other commands of a batch must not fail with the one that cannot be written.
        #expect(committer.batchFailed(.invalidUse, commands: 2) == .decideHalves)
        #expect(committer.commandsWait() == .writeBatch)
    }

    @Test(arguments: [(StorageError.Code.full, Committer.ProbeAction.write), (.io, .reopenAndWrite)])
    func aFullOrFailingDiskIsReadOnlyUntilATestSucceeds(code: StorageError.Code, probe: Committer.ProbeAction) {
        var committer = self.writing()
        guard case .becomeReadOnly(let error, .seconds(1)) = committer.batchFailed(code, commands: 1) else {
            Issue.record("read-only expected")
            return
        }
        #expect(error.code.isTemporary)
        #expect(committer.health == .readOnly(code))
        guard case .refuseAll = committer.commandsWait() else {
            Issue.record("commands must be refused")
            return
        }
        #expect(committer.probeTimerFired() == probe)
        #expect(committer.probeTimerFired() == .doNothing)
        #expect(committer.probeEnded(code) == .probeAgain(after: .seconds(2)))
        #expect(committer.probeTimerFired() == probe)
        #expect(committer.probeEnded(nil) == .resume)
        #expect(committer.health == .writable)
        #expect(committer.commandsWait() == .writeBatch)
    }

    @Test func testsBecomeRarer() {
        var committer = self.writing()
        _ = committer.batchFailed(.full, commands: 1)
        var pauses: [Duration] = []
        for _ in 1...6 {
            _ = committer.probeTimerFired()
            if case .probeAgain(let pause) = committer.probeEnded(.full) { pauses.append(pause) }
        }
        #expect(pauses == [2, 4, 8, 16, 30, 30].map { .seconds($0) })
    }

    @Test func afterAFailedSyncTheStorageIsOpenedAgain() {
        var committer = self.writing()
        _ = committer.batchFailed(.full, commands: 1)
        _ = committer.probeTimerFired()
        _ = committer.probeEnded(.io)
        #expect(committer.probeTimerFired() == .reopenAndWrite)
    }

    @Test(arguments: [StorageError.Code.corrupt, .newerSchema, .locked]) func someFailuresNeedTheOperator(code: StorageError.Code) {
        var committer = self.writing()
        guard case .fail = committer.batchFailed(code, commands: 1) else {
            Issue.record("a failure expected")
            return
        }
        #expect(committer.health == .failed(code))
        guard case .refuseAll = committer.commandsWait() else {
            Issue.record("commands must be refused")
            return
        }
        #expect(committer.probeTimerFired() == .doNothing)
    }
}

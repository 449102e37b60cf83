import ApusChatProtocol
import Testing

@testable import ApusChatCore

@Suite("Read positions")
struct ReadPositionsTests {
    private func mark(_ n: Int64) -> MarkRequest { MarkRequest(conversation: Client.room, read: n) }
    private func answer(_ n: Int64) -> MarkAnswer { MarkAnswer(conversation: Client.room, read: n, unread: 0, mentions: 0, n: n) }

    @Test func aPositionIsSentUntilItIsConfirmed() {
        var reads = ReadPositions()
        #expect(reads.read(3, in: Client.room) == nil)  // offline
        #expect(reads.connected() == [self.mark(3)])
        #expect(reads.read(5, in: Client.room) == nil)  // one request at a time
        #expect(reads.answered(self.answer(3)) == self.mark(5))
        reads.disconnected()
        #expect(reads.connected() == [self.mark(5)])
        #expect(reads.answered(self.answer(5)) == nil)
        reads.disconnected()
        #expect(reads.connected() == [])
    }

    @Test func aPositionOnlyIncreases() {
        var reads = ReadPositions()
        _ = reads.connected()
        #expect(reads.read(5, in: Client.room) == self.mark(5))
        #expect(reads.read(4, in: Client.room) == nil)
        reads.confirmed(9, in: Client.room)  // by another device
        #expect(reads.answered(self.answer(5)) == nil)
        #expect(reads.position(in: Client.room) == 9)
    }

    @Test func theServerBoundsAPosition() {
        var reads = ReadPositions()
        _ = reads.connected()
        #expect(reads.read(50, in: Client.room) == self.mark(50))
        #expect(reads.answered(self.answer(40)) == nil)  // the log has 40 messages: no endless repetition
        #expect(reads.position(in: Client.room) == 40)
    }

    @Test func aRefusedPositionIsRevertedAndAFailedOneIsRepeated() {
        var reads = ReadPositions()
        reads.restored(Client.room, read: 3, confirmed: 3)
        _ = reads.connected()
        #expect(reads.read(5, in: Client.room) == self.mark(5))
        reads.failed(in: Client.room, isTemporary: true)
        #expect(reads.read(6, in: Client.room) == self.mark(6))
        reads.failed(in: Client.room, isTemporary: false)
        #expect(reads.position(in: Client.room) == 3)
    }

    @Test func storedPositionsAreSentAfterARestart() {
        var reads = ReadPositions()
        reads.restored(Client.room, read: 5, confirmed: 3)
        reads.restored(Client.other, read: 2, confirmed: 2)
        #expect(reads.connected() == [self.mark(5)])
        reads.removed(Client.room)
        #expect(reads.position(in: Client.room) == 0)
    }
}

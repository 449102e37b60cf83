import ApusSocketIOProtocol
import Testing

@Suite struct SocketIOHistoryTests {
    private func history(count: Int = 100, bytes: Int = 1000) -> SocketIOHistory<String> {
        SocketIOHistory(epoch: "e", lifetime: .seconds(10), maximumCount: count, maximumBytes: bytes)
    }

    private func offset(_ number: UInt64, epoch: String = "e") -> SocketIOOffset { SocketIOOffset(epoch: epoch, number: number) }

    @Test func packetsAreNumberedFromOne() {
        var history = self.history()
        #expect(history.end == self.offset(0))
        #expect(history.next == self.offset(1))
        history.append("a", for: .init(), bytes: 1, at: .zero)
        #expect(history.end == self.offset(1))
        #expect(history.next == self.offset(2))
    }

    @Test func missedPacketsAreThoseForTheSocketAfterTheOffset() {
        var history = self.history()
        history.append("all", for: .init(), bytes: 1, at: .zero)
        history.append("red", for: .init(rooms: ["red"]), bytes: 1, at: .zero)
        history.append("not red", for: .init(except: ["red"]), bytes: 1, at: .zero)
        history.append("me", for: .init(rooms: ["id"]), bytes: 1, at: .zero)
        history.append("blue", for: .init(rooms: ["blue", "green"]), bytes: 1, at: .zero)
        #expect(history.missed(after: self.offset(0), memberOf: ["id", "red"]) == ["all", "red", "me"])
        #expect(history.missed(after: self.offset(1), memberOf: ["id", "red"]) == ["red", "me"])
        #expect(history.missed(after: self.offset(0), memberOf: ["other"]) == ["all", "not red"])
        #expect(history.missed(after: self.offset(5), memberOf: ["id"]) == [])
    }

    @Test func unknownOffsetsAreNotReached() {
        var history = self.history()
        history.append("a", for: .init(), bytes: 1, at: .zero)
        #expect(!history.reaches(backTo: self.offset(2)))
        #expect(!history.reaches(backTo: self.offset(.max)))
        #expect(!history.reaches(backTo: self.offset(1, epoch: "other")))
        #expect(history.missed(after: self.offset(2), memberOf: []) == nil)
    }

    @Test(arguments: [(count: 2, bytes: 1000), (count: 100, bytes: 20)])
    func isBoundedInNumberAndBytes(count: Int, bytes: Int) {
        var history = self.history(count: count, bytes: bytes)
        for name in ["a", "b", "c"] { history.append(name, for: .init(), bytes: 10, at: .zero) }
        #expect(history.count == 2)
        #expect(history.missed(after: self.offset(1), memberOf: []) == ["b", "c"])
        // A client before "a" has missed an expired packet.
        #expect(history.missed(after: self.offset(0), memberOf: []) == nil)
    }

    @Test func aPacketLargerThanAllLeavesAGap() {
        var history = self.history(bytes: 20)
        history.append("a", for: .init(), bytes: 21, at: .zero)
        #expect(history.count == 0)
        #expect(!history.reaches(backTo: self.offset(0)))
        #expect(history.missed(after: self.offset(1), memberOf: []) == [])
    }

    @Test(arguments: [(count: 0, bytes: 1000), (count: -1, bytes: -1)]) func aBoundOfZeroKeepsNothing(count: Int, bytes: Int) {
        var history = self.history(count: count, bytes: bytes)
        history.append("a", for: .init(), bytes: 10, at: .zero)
        #expect(history.count == 0)
        #expect(history.end == self.offset(1))
    }

    @Test func isBoundedInTime() {
        var history = self.history()
        history.append("a", for: .init(), bytes: 1, at: .seconds(0))
        history.append("b", for: .init(), bytes: 1, at: .seconds(5))
        history.expire(at: .milliseconds(9_999))
        #expect(history.count == 2)
        history.expire(at: .seconds(10))
        #expect(history.missed(after: self.offset(1), memberOf: []) == ["b"])
        #expect(!history.reaches(backTo: self.offset(0)))
        // The history is empty, and a client at its end has missed nothing.
        history.expire(at: .seconds(15))
        #expect(history.count == 0)
        #expect(history.missed(after: self.offset(2), memberOf: []) == [])
        #expect(history.next == self.offset(3))
    }
}

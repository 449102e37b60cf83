import ApusEventLoop
import NIOCore
import NIOEmbedded
import Testing

@Suite struct PendingTableTests {
    private final class TimedOut {
        var waits: [String] = []
    }

    private func table(_ timedOut: TimedOut) -> (PendingTable<String>, EmbeddedEventLoop) {
        let eventLoop = EmbeddedEventLoop()
        return (PendingTable(on: eventLoop) { id, wait in timedOut.waits.append("\(id) \(wait)") }, eventLoop)
    }

    @Test func anAnswerEndsAWaitOnce() {
        let timedOut = TimedOut()
        let (table, eventLoop) = self.table(timedOut)
        table.add("a", id: 0, endingIn: .seconds(1))
        table.add("b", id: 1, endingIn: nil)
        #expect(table.count == 2)
        #expect(table[0] == "a")
        #expect(table.take(0) == "a")
        #expect(table.take(0) == nil)
        #expect(table.take(99) == nil)
        #expect(table[0] == nil)
        #expect(table.count == 1)
        eventLoop.advanceTime(by: .seconds(60))
        #expect(timedOut.waits.isEmpty)
        #expect(table.takeAll() == ["b"])
    }

    @Test func aDeadlineEndsAWaitOnce() {
        let timedOut = TimedOut()
        let (table, eventLoop) = self.table(timedOut)
        table.add("a", id: 0, endingIn: .seconds(1))
        eventLoop.advanceTime(by: .milliseconds(999))
        #expect(timedOut.waits == [])
        eventLoop.advanceTime(by: .milliseconds(1))
        #expect(timedOut.waits == ["0 a"])
        #expect(table.take(0) == nil)
        eventLoop.advanceTime(by: .seconds(60))
        #expect(timedOut.waits == ["0 a"])
        #expect(table.takeAll() == [])
    }

    @Test func theWaitsShareOneTimer() {
        let timedOut = TimedOut()
        let (table, eventLoop) = self.table(timedOut)
        table.add("a", id: 1, endingIn: .seconds(20))
        eventLoop.advanceTime(by: .seconds(5))
        table.add("b", id: 2, endingIn: .seconds(20))
        table.add("c", id: 3, endingIn: .seconds(1))
        eventLoop.advanceTime(by: .milliseconds(999))
        #expect(timedOut.waits == [])
        eventLoop.advanceTime(by: .milliseconds(1))
        #expect(timedOut.waits == ["3 c"])
        #expect(table.take(1) == "a")
        eventLoop.advanceTime(by: .milliseconds(18_999))
        #expect(timedOut.waits == ["3 c"])
        eventLoop.advanceTime(by: .milliseconds(1))
        #expect(timedOut.waits == ["3 c", "2 b"])
    }

    @Test func aCloseEndsAllWaitsAndStopsTheTimer() {
        let timedOut = TimedOut()
        let (table, eventLoop) = self.table(timedOut)
        for id in [3, 1, 2] { table.add("\(id)", id: id, endingIn: .seconds(1)) }
        #expect(table.takeAll() == ["1", "2", "3"])
        #expect(table.takeAll() == [])
        eventLoop.advanceTime(by: .seconds(60))
        #expect(timedOut.waits == [])
        table.add("later", id: 4, endingIn: .seconds(1))
        eventLoop.advanceTime(by: .seconds(1))
        #expect(timedOut.waits == ["4 later"])
    }

    @Test func someWaitsEndTogether() {
        let timedOut = TimedOut()
        let (table, eventLoop) = self.table(timedOut)
        table.add("sent", id: 0, endingIn: .seconds(1))
        table.add("kept", id: 1, endingIn: .seconds(2))
        table.add("sent too", id: 2, endingIn: nil)
        table.update(7) { $0 = "none" }
        table.update(1) { $0 += "!" }
        #expect(table.takeAll { $0.hasPrefix("sent") } == ["sent", "sent too"])
        #expect(table.count == 1)
        eventLoop.advanceTime(by: .seconds(2))
        #expect(timedOut.waits == ["1 kept!"])
    }

    @Test func aTimedOutWaitMayAddAnother() {
        let eventLoop = EmbeddedEventLoop()
        let timedOut = TimedOut()
        var table: PendingTable<String>?
        let made = PendingTable<String>(on: eventLoop) { id, wait in
            timedOut.waits.append("\(id) \(wait)")
            if id < 3 { table?.add("again", id: id + 1, endingIn: .seconds(1)) }
        }
        table = made
        made.add("first", id: 1, endingIn: .seconds(1))
        eventLoop.advanceTime(by: .seconds(10))
        #expect(timedOut.waits == ["1 first", "2 again", "3 again"])
        table = nil
    }
}

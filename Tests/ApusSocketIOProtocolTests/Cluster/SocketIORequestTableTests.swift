import ApusSocketIOProtocol
import Testing

private typealias Table = SocketIORequestTable<Int>

extension SocketIORequestTable.Action where Reply == Int {
    /// `replies of announced`, and how many servers were silent; `nil` while the request goes on.
    fileprivate var told: String? {
        guard case .complete(_, let outcome) = self else { return nil }
        return "\(outcome.replies) of \(outcome.announced), \(outcome.silentServers) silent"
    }
}

@Suite struct SocketIORequestTableTests {
    private let a = SocketIONodeID("a")
    private let b = SocketIONodeID("b")
    private let c = SocketIONodeID("c")

    private func makeTable() -> Table {
        var table = Table(maximumRequests: 10)
        #expect(table.begin("1") == true)
        return table
    }

    @Test func endsWhenEveryServerReportedAndEveryReplyCame() {
        var table = self.makeTable()
        #expect(table.asked("1", .nodes([a, b])).told == nil)
        #expect(table.received("1", reportFrom: a, announcing: 2).told == nil)
        #expect(table.received("1", replyFrom: a, 7).told == nil)
        #expect(table.received("1", reportFrom: b, announcing: 0).told == nil)
        #expect(table.received("1", replyFrom: a, 8).told == "[7, 8] of 2, 0 silent")
        #expect(table.received("1", replyFrom: a, 9).told == nil)
        #expect(table.timedOut("1").told == nil)
        #expect(table.count == 0)
    }

    @Test func repliesMayComeWithTheReportAndBeforeIt() {
        var table = self.makeTable()
        #expect(table.received("1", replyFrom: a, 1).told == nil)
        #expect(table.received("1", reportFrom: b, announcing: 2, [2, 3]).told == nil)
        #expect(table.received("1", reportFrom: a, announcing: 1).told == nil)
        #expect(table.asked("1", .nodes([a, b])).told == "[1, 2, 3] of 3, 0 silent")
    }

    @Test func aNumberOfServersIsEnough() {
        var table = self.makeTable()
        #expect(table.asked("1", .count(2)).told == nil)
        #expect(table.received("1", reportFrom: nil, announcing: 1, [1]).told == nil)
        #expect(table.received("1", reportFrom: nil, announcing: 1, [2]).told == "[1, 2] of 2, 0 silent")
    }

    @Test func nobodyAskedIsAnAnswer() {
        var table = self.makeTable()
        #expect(table.asked("1", .count(0)).told == "[] of 0, 0 silent")
    }

    @Test func theDeadlineEndsItWithWhatThereIs() {
        var table = self.makeTable()
        _ = table.asked("1", .nodes([a, b]))
        _ = table.received("1", reportFrom: a, announcing: 3, [5])
        #expect(table.timedOut("1").told == "[5] of 3, 1 silent")
        #expect(table.received("1", reportFrom: b, announcing: 0).told == nil)
    }

    @Test func theDeadlineMayComeBeforeItIsKnownWhoWasAsked() {
        var table = self.makeTable()
        #expect(table.timedOut("1").told == "[] of 0, 1 silent")
    }

    @Test func aLostReplyIsNotWaitedFor() {
        var table = self.makeTable()
        _ = table.asked("1", .nodes([a]))
        _ = table.received("1", reportFrom: a, announcing: 2)
        #expect(table.received("1", replyFrom: a, nil).told == nil)
        #expect(table.received("1", replyFrom: a, 1).told == "[1] of 2, 0 silent")
    }

    @Test func aServerThatLeavesIsNotWaitedFor() {
        var table = self.makeTable()
        _ = table.asked("1", .nodes([a, b, c]))
        _ = table.received("1", reportFrom: a, announcing: 2)
        _ = table.received("1", replyFrom: a, 1)
        _ = table.received("1", reportFrom: c, announcing: 1, [3])
        #expect(table.left(a).map(\.told) == [nil])
        #expect(table.left(b).map(\.told) == ["[1, 3] of 3, 1 silent"])
        #expect(table.left(b).count == 0)
    }

    @Test func aServerThatLeftIsNotCountedTwice() {
        var table = self.makeTable()
        _ = table.asked("1", .nodes([a, b]))
        _ = table.received("1", reportFrom: a, announcing: 2)
        #expect(table.left(a).map(\.told) == [nil])
        #expect(table.left(a).map(\.told) == [nil])
        // Late: they are taken in place of what was given up, and no more of them than that.
        for reply in 1...3 { #expect(table.received("1", replyFrom: a, reply).told == nil) }
        #expect(table.received("1", replyFrom: a, nil).told == nil)
        #expect(table.received("1", reportFrom: a, announcing: 5).told == nil)
        #expect(table.received("1", reportFrom: b, announcing: 1).told == nil)
        #expect(table.received("1", replyFrom: b, 9).told == "[1, 2, 9] of 3, 0 silent")
    }

    @Test func whatAServerSaidAheadOfItsReportIsNotAnothers() {
        var table = self.makeTable()
        _ = table.asked("1", .nodes([a, b]))
        _ = table.received("1", replyFrom: a, 1)
        #expect(table.left(a).map(\.told) == [nil])
        #expect(table.received("1", reportFrom: a, announcing: 1).told == nil)
        #expect(table.received("1", reportFrom: b, announcing: 1).told == nil)
        #expect(table.received("1", replyFrom: b, 2).told == "[1, 2] of 2, 1 silent")
    }

    @Test func countsOfAStrangerDoNotOverflow() {
        var table = self.makeTable()
        #expect(table.asked("1", .count(.max)).told == nil)
        for node in [a, b, c] { #expect(table.received("1", reportFrom: node, announcing: .max).told == nil) }
        _ = table.received("1", reportFrom: nil, announcing: .max)
        _ = table.received("1", reportFrom: nil, announcing: .min)
        #expect(table.left(a).map(\.told) == [nil])
        #expect(table.left(b).map(\.told) == [nil])
        _ = table.begin("2")
        #expect(table.asked("2", .count(.min)).told == "[] of 0, 0 silent")
    }

    @Test func aSecondReportOfAServerChangesNothing() {
        var table = self.makeTable()
        _ = table.asked("1", .nodes([a, b]))
        _ = table.received("1", reportFrom: a, announcing: 1, [1])
        #expect(table.received("1", reportFrom: a, announcing: 1, [1]).told == nil)
        #expect(table.received("1", reportFrom: b, announcing: 0).told == "[1] of 1, 0 silent")
    }

    @Test func tooManyAndTheSameAgainAreRefused() {
        var table = Table(maximumRequests: 2)
        #expect(table.begin("1") == true)
        #expect(table.begin("1") == false)
        #expect(table.begin("2") == true)
        #expect(table.begin("3") == false)
        #expect(table.cancel("1") == true)
        #expect(table.cancel("1") == false)
        #expect(table.begin("3") == true)
    }
}

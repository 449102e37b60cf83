import ApusSocketIOProtocol
import Testing

private typealias Table = SocketIORequestTable<Int>

extension SocketIORequestTable.Action where Reply == Int {
    /// The replies and the number of silent servers; nil while the request is pending.
    fileprivate var summary: String? {
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
        #expect(table.asked("1", .nodes([a, b])).summary == nil)
        #expect(table.receivedReport("1", from: a, announcing: 2).summary == nil)
        #expect(table.receivedReply("1", from: a, 7).summary == nil)
        #expect(table.receivedReport("1", from: b, announcing: 0).summary == nil)
        #expect(table.receivedReply("1", from: a, 8).summary == "[7, 8] of 2, 0 silent")
        #expect(table.receivedReply("1", from: a, 9).summary == nil)
        #expect(table.deadlinePassed("1").summary == nil)
        #expect(table.count == 0)
    }

    @Test func repliesMayComeWithTheReportAndBeforeIt() {
        var table = self.makeTable()
        #expect(table.receivedReply("1", from: a, 1).summary == nil)
        #expect(table.receivedReport("1", from: b, announcing: 2, [2, 3]).summary == nil)
        #expect(table.receivedReport("1", from: a, announcing: 1).summary == nil)
        #expect(table.asked("1", .nodes([a, b])).summary == "[1, 2, 3] of 3, 0 silent")
    }

    @Test func aNumberOfServersIsEnough() {
        var table = self.makeTable()
        #expect(table.asked("1", .count(2)).summary == nil)
        #expect(table.receivedReport("1", from: nil, announcing: 1, [1]).summary == nil)
        #expect(table.receivedReport("1", from: nil, announcing: 1, [2]).summary == "[1, 2] of 2, 0 silent")
    }

    @Test func aRequestToNoServersCompletesAtOnce() {
        var table = self.makeTable()
        #expect(table.asked("1", .count(0)).summary == "[] of 0, 0 silent")
    }

    @Test func theDeadlineCompletesARequestWithTheRepliesSoFar() {
        var table = self.makeTable()
        _ = table.asked("1", .nodes([a, b]))
        _ = table.receivedReport("1", from: a, announcing: 3, [5])
        #expect(table.deadlinePassed("1").summary == "[5] of 3, 1 silent")
        #expect(table.receivedReport("1", from: b, announcing: 0).summary == nil)
    }

    @Test func theDeadlineMayPassBeforeTheServersAreKnown() {
        var table = self.makeTable()
        #expect(table.deadlinePassed("1").summary == "[] of 0, 1 silent")
    }

    @Test func aLostReplyIsNotAwaited() {
        var table = self.makeTable()
        _ = table.asked("1", .nodes([a]))
        _ = table.receivedReport("1", from: a, announcing: 2)
        #expect(table.receivedReply("1", from: a, nil).summary == nil)
        #expect(table.receivedReply("1", from: a, 1).summary == "[1] of 2, 0 silent")
    }

    @Test func aServerThatLeavesIsNotAwaited() {
        var table = self.makeTable()
        _ = table.asked("1", .nodes([a, b, c]))
        _ = table.receivedReport("1", from: a, announcing: 2)
        _ = table.receivedReply("1", from: a, 1)
        _ = table.receivedReport("1", from: c, announcing: 1, [3])
        #expect(table.left(a).map(\.summary) == [nil])
        #expect(table.left(b).map(\.summary) == ["[1, 3] of 3, 1 silent"])
        #expect(table.left(b).count == 0)
    }

    @Test func aServerThatLeftIsNotCountedTwice() {
        var table = self.makeTable()
        _ = table.asked("1", .nodes([a, b]))
        _ = table.receivedReport("1", from: a, announcing: 2)
        #expect(table.left(a).map(\.summary) == [nil])
        #expect(table.left(a).map(\.summary) == [nil])
        // Late replies of the server that left replace its two lost replies. A third one is
        // ignored.
        for reply in 1...3 { #expect(table.receivedReply("1", from: a, reply).summary == nil) }
        #expect(table.receivedReply("1", from: a, nil).summary == nil)
        #expect(table.receivedReport("1", from: a, announcing: 5).summary == nil)
        #expect(table.receivedReport("1", from: b, announcing: 1).summary == nil)
        #expect(table.receivedReply("1", from: b, 9).summary == "[1, 2, 9] of 3, 0 silent")
    }

    @Test func earlyRepliesOfALostServerDoNotCountForOthers() {
        var table = self.makeTable()
        _ = table.asked("1", .nodes([a, b]))
        _ = table.receivedReply("1", from: a, 1)
        #expect(table.left(a).map(\.summary) == [nil])
        #expect(table.receivedReport("1", from: a, announcing: 1).summary == nil)
        #expect(table.receivedReport("1", from: b, announcing: 1).summary == nil)
        #expect(table.receivedReply("1", from: b, 2).summary == "[1, 2] of 2, 1 silent")
    }

    @Test func untrustedCountsDoNotOverflow() {
        var table = self.makeTable()
        #expect(table.asked("1", .count(.max)).summary == nil)
        for node in [a, b, c] { #expect(table.receivedReport("1", from: node, announcing: .max).summary == nil) }
        _ = table.receivedReport("1", from: nil, announcing: .max)
        _ = table.receivedReport("1", from: nil, announcing: .min)
        #expect(table.left(a).map(\.summary) == [nil])
        #expect(table.left(b).map(\.summary) == [nil])
        _ = table.begin("2")
        #expect(table.asked("2", .count(.min)).summary == "[] of 0, 0 silent")
    }

    @Test func aSecondReportOfAServerChangesNothing() {
        var table = self.makeTable()
        _ = table.asked("1", .nodes([a, b]))
        _ = table.receivedReport("1", from: a, announcing: 1, [1])
        #expect(table.receivedReport("1", from: a, announcing: 1, [1]).summary == nil)
        #expect(table.receivedReport("1", from: b, announcing: 0).summary == "[1] of 1, 0 silent")
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

import ApusChatProtocol
import ApusChatStorage
import ApusJSON
import Testing

@testable import ApusChatService

/// The events that the server sends for rows.
@Suite struct EventViewTests {
    private let conversation = #""conv":"\#(conversationText(7))""#

    private func event(_ configure: (inout EventRow) -> Void) throws -> JSONValue {
        var row = EventRow(conversation: ConversationKey(7), seq: 4, n: 3, sender: UserKey(1), at: 50, kind: .text, body: #"{"text":"a"}"#)
        configure(&row)
        return ChatEvent(row, names: [UserKey(1): UserName(prepared: "alice")]).json
    }

    @Test func aMessageHasTheFieldsThatAreSet() throws {
        let start = #"{\#(self.conversation),"seq":4,"n":3,"sender":"alice","at":50,"kind":"text","body":{"text":"a"}"#
        #expect(try self.event { _ in } == wire(start + "}"))
        #expect(
            try self.event {
                $0.clientID = .make("m1")
                $0.ref = 2
                $0.thread = 1
                $0.state = .edited
                $0.editedAt = 60
                $0.expiresAt = 70
                $0.replyCount = 2
                $0.lastReply = 9
                $0.votes = [1, 0]
            }
                == wire(
                    start
                        + #","id":"m1","ref":2,"thread":1,"state":"edited","edited_at":60,"expires_at":70,"votes":[1,0],"replies":{"count":2,"seq":9}}"#
                ))
    }

    @Test func aChangeHasNoOrdinal() throws {
        let event = try self.event {
            $0.n = 0
            $0.kind = .recall
            $0.ref = 2
            $0.body = ""
        }
        #expect(event == (try wire(#"{\#(self.conversation),"seq":4,"sender":"alice","at":50,"kind":"recall","ref":2}"#)))
    }

    @Test func anEventOfTheServerHasNoSender() throws {
        #expect(try self.event { $0.sender = UserKey(0) }["sender"] == nil)
    }

    /// A stored body that is not an object, as in a damaged row, is served as an empty one.
    @Test(arguments: ["", "{", "[1]", "7", "null", #""text""#]) func aBodyThatIsNotAnObjectIsEmpty(body: String) throws {
        #expect(try self.event { $0.body = body }["body"] == nil)
    }

    @Test func reactionsAreInTheOrderOfTheirNumbers() throws {
        let event = try self.event {
            $0.reactions = [("a", 1), ("b", 3), ("c", 2)].map { ReactionCount(key: $0, count: $1) }
        }
        #expect(event["reactions"] == (try wire(#"[{"key":"b","count":3},{"key":"c","count":2},{"key":"a","count":1}]"#)))
    }

    @Test func aClosedPollIsMarked() throws {
        func body(isClosed: Bool, _ state: EventState, _ text: String = #"{"question":"q","options":["a","b"]}"#) throws -> JSONValue? {
            try self.event {
                $0.kind = .poll
                $0.body = text
                $0.isClosed = isClosed
                $0.state = state
            }["body"]
        }
        #expect(try body(isClosed: false, .normal)?["closed"] == nil)
        #expect(try body(isClosed: true, .normal)?["closed"] == true)
        #expect(try body(isClosed: true, .recalled, "") == nil, "a recalled poll has no content")
    }

    @Test func anEventThatIsHiddenHasItsPlaceOnly() throws {
        let world = try ViewWorld()
        let views = [EventView(seq: 4, n: 3, row: nil), EventView(seq: 5, n: 0, row: nil)]
        #expect(
            try world.context(of: 1).events(views, in: ConversationKey(7)).map(\.json) == [
                wire(#"{\#(self.conversation),"seq":4,"n":3,"kind":"hidden"}"#), wire(#"{\#(self.conversation),"seq":5,"kind":"hidden"}"#),
            ])
    }

    @Test func anExpiredEventLosesItsContentAndTheAnnotationsOfTheViewer() throws {
        let world = try ViewWorld()
        var row = ViewWorld.message(7, 1, by: 2, #"{"text":"secret"}"#)
        row.expiresAt = 1_000
        row.reactions = [ReactionCount(key: "a", count: 1)]
        var own = AnnotationRow(address: AnnotationAddress(row.address, UserKey(1)), n: 1)
        own.reactions = ["a"]
        let view = EventView(seq: 1, n: 1, row: row, own: own)
        world.now = 999
        #expect(world.context(of: 1).served(view) == view)
        world.now = 1_000
        let served = world.context(of: 1).served(view)
        #expect(served.own == nil && served.row?.state == .expired)
        #expect(
            try world.context(of: 1).events([view], in: ConversationKey(7)).map(\.json)
                == [wire(#"{\#(self.conversation),"seq":1,"n":1,"sender":"bob","at":11,"kind":"text","state":"expired"}"#)])
    }

    // MARK: Own annotations

    private func view(_ reactions: [String], _ votes: UInt64) -> EventView {
        var view = EventView(seq: 4, n: 3, row: nil)
        var own = AnnotationRow(address: AnnotationAddress(EventAddress(ConversationKey(7), 4), UserKey(1)), n: 3)
        (own.reactions, own.votes) = (reactions, votes)
        view.own = own
        return view
    }

    @Test(
        arguments: [
            ([], 0b1, [0]), ([], 0b1010, [1, 3]), ([], 1 << 63, [63]), ([], .max, Array(0..<64)), (["a"], 0, []), (["b", "a"], 0b10, [1]),
        ] as [([String], UInt64, [Int64])])
    func theVotesAreTheBits(reactions: [String], bits: UInt64, votes: [Int64]) {
        #expect(
            ReadContext.mine([self.view(reactions, bits)]) == [HistoryAnswer.Mine(seq: 4, reactions: reactions, votes: votes)])
    }

    @Test func eventsWithoutAnAnnotationAreOmitted() {
        #expect(ReadContext.mine([EventView(seq: 1, n: 1, row: nil), self.view([], 0), self.view(["x"], 0)]).map(\.seq) == [4])
    }

    @Test func aPreviewOfAnEventThatIsNotVisibleIsHidden() throws {
        let world = try ViewWorld()
        let preview = try world.context(of: 1).preview(EventView(seq: 9, n: 0, row: nil), in: ConversationKey(7))
        #expect(preview.json == (try wire(#"{"seq":9,"kind":"hidden"}"#)))
    }
}

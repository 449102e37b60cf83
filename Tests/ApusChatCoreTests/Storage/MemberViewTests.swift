import ApusChatProtocol
import ApusChatStorage
import Testing

@Suite struct MemberViewTests {
    private let key = ConversationKey(1)

    private func member(_ state: MemberState, first: Int64 = 1, left: Int64 = 0) -> MemberRow {
        var member = MemberRow(address: MemberAddress(self.key, UserKey(1)), role: .member, state: state)
        member.minSeq = first
        member.leftSeq = left
        return member
    }

    private func event(_ seq: Int64, n: Int64 = 1, ref: Int64 = 0, kind: EventKind = .text) -> EventRow {
        EventRow(conversation: self.key, seq: seq, n: n, sender: UserKey(2), at: 0, kind: kind, ref: ref, body: "{\"text\":\"x\"}")
    }

    @Test func membersSeeFromTheirFirstSeqOn() throws {
        let view = try #require(MemberView(self.member(.joined, first: 3)))
        #expect((1...5).map { view.contains($0) } == [false, false, true, true, true])
        #expect(view.view(of: self.event(2), isHidden: { _ in false }) == nil)
        #expect(view.view(of: self.event(3), isHidden: { _ in false })?.row?.body == "{\"text\":\"x\"}")
    }

    @Test(arguments: [MemberState.left, .removed]) func formerMembersSeeUpToTheEnd(state: MemberState) throws {
        let view = try #require(MemberView(self.member(state, first: 2, left: 4)))
        #expect((1...5).map { view.contains($0) } == [false, true, true, true, false])
        #expect(MemberView(self.member(state)) == nil, "never was a member")
    }

    @Test(arguments: [MemberState.invited, .requested, .banned, .unknown]) func othersSeeNothing(state: MemberState) {
        #expect(MemberView(self.member(state, left: 9)) == nil)
    }

    @Test func strangersSeeNothing() { #expect(MemberView(nil) == nil) }

    @Test(arguments: [EventState.recalled, .expired, .erased]) func blankEventsHaveNoContent(state: EventState) throws {
        let view = MemberView(first: 1, last: .max)
        var event = self.event(1)
        event.state = state  // as if the storage had not cleared the row
        event.original = "secret"
        event.reactions = [ReactionCount(key: "+", count: 1)]
        let row = try #require(view.view(of: event, isHidden: { _ in false })?.row)
        #expect(row.body.isEmpty && row.original.isEmpty && row.reactions.isEmpty)
        #expect(row.state == state)
    }

    @Test func hiddenEventsKeepTheirPlace() {
        let view = MemberView(first: 1, last: .max)
        #expect(view.view(of: self.event(4, n: 3), isHidden: { $0 == 4 }) == EventView(seq: 4, n: 3, row: nil))
    }

    @Test func changesOfHiddenMessagesAreHiddenRepliesAreNot() {
        let view = MemberView(first: 1, last: .max)
        let edit = self.event(5, n: 0, ref: 4, kind: .edit)
        #expect(view.view(of: edit, isHidden: { $0 == 4 })?.row == nil)
        let reply = self.event(5, n: 4, ref: 4)
        #expect(view.view(of: reply, isHidden: { $0 == 4 })?.row != nil)
    }

    @Test func changesOfMessagesBeforeTheRangeAreHidden() {
        let view = MemberView(first: 3, last: .max)
        #expect(view.view(of: self.event(5, n: 0, ref: 2, kind: .edit), isHidden: { _ in false })?.row == nil)
        #expect(view.view(of: self.event(5, n: 0, ref: 3, kind: .edit), isHidden: { _ in false })?.row != nil)
        #expect(view.view(of: self.event(5, n: 0, kind: .memberJoin), isHidden: { _ in false })?.row != nil)
    }

    /// The changes of a blocked user to an earlier message are not shown to the blocking user.
    @Test func changesByABlockedUserAreNotShown() throws {
        var member = self.member(.joined)
        member.blockSeq = 100
        let view = try #require(MemberView(member))
        var event = self.event(1)
        (event.original, event.body, event.state) = (event.body, "{\"text\":\"insult\"}", .edited)
        (event.editedAt, event.editSeq) = (7, 101)
        event.reactions = [ReactionCount(key: "+", count: 2), ReactionCount(key: "-", count: 1)]
        event.votes = [2, 1, 0]
        var shown = try #require(view.view(of: event, isHidden: { _ in false }))
        #expect(shown.row?.body == "{\"text\":\"x\"}" && shown.row?.state == .normal && shown.row?.editedAt == 0)
        var own = AnnotationRow(address: AnnotationAddress(event.address, UserKey(1)), n: 1)
        (own.reactions, own.votes) = (["+"], 0b10)
        view.attach(own, to: &shown)
        #expect(shown.row?.reactions == [ReactionCount(key: "+", count: 1)] && shown.row?.votes == [0, 1, 0])
        var vote = self.event(2, n: 0, ref: 1, kind: .vote)
        (vote.sender, vote.votes) = (UserKey(1), [1, 2, 0])
        var shownVote = try #require(view.view(of: vote, isHidden: { _ in false }))
        view.attach(nil, to: &shownVote)
        #expect(shownVote.row?.votes == [], "its totals contain the votes of the blocked user")
        var mine = event
        mine.sender = UserKey(1)
        #expect(view.view(of: mine, isHidden: { _ in false })?.row?.body == event.body, "edited by the user who blocks")
        event.editSeq = 100
        #expect(view.view(of: event, isHidden: { _ in false })?.row?.body == event.body, "edited before the block")
    }
}

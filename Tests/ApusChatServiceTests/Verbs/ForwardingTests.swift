import ApusChatCore
import ApusChatProtocol
import ApusChatStorage
import ApusJSON
import Testing

@testable import ApusChatService

/// The copies that `forward` makes of messages.
@Suite struct ForwardingTests {
    private let source = ConversationID(number: 7)

    /// Returns a group of Alice and Bob with messages of Alice of these kinds and bodies.
    private func world(_ messages: [(EventKind, String)], configure: (inout EventRow) -> Void = { _ in }) throws -> ViewWorld {
        let world = try ViewWorld()
        try world.conversation(
            7, members: [1, 2],
            row: {
                $0.profile.title = "Rowing"
                let count = Int64(messages.count)
                ($0.counters.lastSeq, $0.counters.lastN) = (count, count)
            })
        try world.change { changes in
            for (index, message) in messages.enumerated() {
                var row = ViewWorld.message(7, Int64(index) + 1, by: 1, message.1, kind: message.0)
                configure(&row)
                changes.events.append(row)
            }
        }
        return world
    }

    private func forward(
        _ world: ViewWorld, _ seqs: [Int64], as viewer: Int64 = 2, configure: (inout ForwardRequest) -> Void = { _ in }
    ) throws -> [MessageContent] {
        var request = ForwardRequest(id: .make("f"), conversation: ConversationID(number: 8), source: self.source, seqs: seqs)
        configure(&request)
        return try world.context(of: viewer).forwarded(request)
    }

    private func refusal(_ body: () throws -> Void) -> ChatError? {
        do {
            try body()
            return nil
        } catch { return error as? ChatError }
    }

    private static let origin = #""forwarded":{"sender":"alice","nick":"Alice","at":11}"#

    // MARK: Single messages

    @Test func aCopyNamesItsOrigin() throws {
        let world = try self.world([(.text, #"{"text":"hi"}"#)])
        #expect(try self.forward(world, [1]).map { try wire($0.body) } == [wire(#"{"text":"hi",\#(Self.origin)}"#)])
        #expect(
            try self.forward(world, [1]) { $0.isAnonymous = true }.map { try wire($0.body) }
                == [wire(#"{"text":"hi","forwarded":{"at":11}}"#)])
        try world.account(1) { $0.nickname = "" }
        #expect(
            try self.forward(world, [1]).map { try wire($0.body) } == [wire(#"{"text":"hi","forwarded":{"sender":"alice","at":11}}"#)])
    }

    @Test func theFirstOriginStays() throws {
        let body = #"{"text":"hi","forwarded":{"sender":"carol","nick":"C","at":3}}"#
        let world = try self.world([(.text, body)])
        for isAnonymous in [false, true] {
            #expect(try self.forward(world, [1]) { $0.isAnonymous = isAnonymous }.map { try wire($0.body) } == [wire(body)])
        }
    }

    @Test func theOrderFollowsTheRequest() throws {
        let world = try self.world((1...3).map { (.text, #"{"text":"\#($0)"}"#) })
        #expect(try self.forward(world, [3, 1, 1]).map { try wire($0.body)["text"] } == ["3", "1", "1"])
    }

    @Test func aPollIsOpenAgainAndHasNoVotes() throws {
        let poll = #"{"question":"q","options":["a","b","c"],"multiple":true,"anonymous":true,"closes_at":5,"closed":true}"#
        let world = try self.world([(.poll, poll)]) {
            $0.isClosed = true
            $0.votes = [3, 0, 0]
        }
        let content = try #require(try self.forward(world, [1]).first)
        #expect(
            try wire(content.body) == wire(#"{"question":"q","options":["a","b","c"],"multiple":true,"anonymous":true,\#(Self.origin)}"#))
        #expect(content.options == 3 && content.allowsManyVotes && content.hidesVoters && content.closesAt == 0)
    }

    /// A copy refers to the uploads of the original, but mentions none of its users.
    @Test func uploadsAreReferredToAndMentionsAreNot() throws {
        let blob = String(repeating: "ab", count: 32)
        let mention = #"{"text":"@bob","entities":[{"type":"mention","offset":0,"length":4,"user":"bob"}]}"#
        let world = try self.world([
            (.file, #"{"blob":"\#(blob)","name":"a.txt","size":1,"type":"text/plain"}"#), (.text, mention),
        ])
        #expect(try self.forward(world, [1]).map(\.blobs) == [[try #require(BlobID(blob))]])
        let copy = try #require(try self.forward(world, [2]).first)
        #expect(copy.mentions.isEmpty && !copy.mentionsAll && copy.blobs.isEmpty)
    }

    // MARK: Messages that cannot be forwarded

    /// A message that the user does not see, or that does not exist, is not forwarded.
    @Test func onlyVisibleMessagesAreForwarded() throws {
        let world = try self.world([
            (.text, #"{"text":"ok"}"#), (.text, #"{"text":"recalled"}"#), (.call, #"{"media":"audio","state":"ended"}"#),
            (.text, #"{"text":"hidden"}"#), (.text, "{"), (.text, "[]"), (.text, #"{"text":"expired"}"#),
        ]) { if $0.seq == 7 { $0.expiresAt = 900 } }
        var hidden = AnnotationRow(address: AnnotationAddress(EventAddress(ConversationKey(7), 4), UserKey(2)), n: 4)
        hidden.isHidden = true
        try world.change {
            $0.annotations = [hidden]
            $0.blanks = [EventBlank(address: EventAddress(ConversationKey(7), 2), state: .recalled)]
        }
        #expect(try self.forward(world, [1]).count == 1)
        for seq in [2, 3, 4, 5, 6, 7, 8, 0, -1, .max, .min] as [Int64] {
            let refusal = self.refusal { _ = try self.forward(world, [1, seq]) }
            #expect(refusal?.code == .notFound, "\(seq)")
        }
        // Message 4 is hidden only from Bob.
        #expect(try self.forward(world, [4], as: 1).count == 1)
    }

    @Test func theMessagesOfOthersCannotBeForwarded() throws {
        let world = try self.world([(.text, #"{"text":"a"}"#), (.text, #"{"text":"b"}"#), (.text, #"{"text":"c"}"#)])
        #expect(self.refusal { _ = try self.forward(world, [1], as: 3) }?.code == .notFound, "a stranger")
        for (state, seqs) in [(MemberState.left, [2]), (.removed, [2]), (.invited, []), (.banned, [])] as [(MemberState, [Int64])] {
            var member = MemberRow(address: MemberAddress(ConversationKey(7), UserKey(2)), role: .member, state: state)
            (member.minSeq, member.leftSeq) = (2, 2)
            try world.change { $0.members = [member] }
            for seq in [1, 2, 3] as [Int64] {
                #expect((self.refusal { _ = try self.forward(world, [seq]) } == nil) == seqs.contains(seq), "\(state) \(seq)")
            }
        }
    }

    // MARK: Bundles

    private func bundle(_ world: ViewWorld, _ seqs: [Int64], as viewer: Int64 = 2, title: String? = nil, anonymous: Bool = false) throws
        -> MessageContent
    {
        let contents = try self.forward(world, seqs, as: viewer) {
            $0.isBundle = true
            $0.title = title
            $0.isAnonymous = anonymous
        }
        #expect(contents.count == 1 && contents.first?.kind == .bundle)
        return try #require(contents.first)
    }

    @Test func aBundleHasTheMessagesAndTheirSenders() throws {
        let world = try self.world([
            (.text, #"{"text":"one"}"#), (.text, #"{"text":"two","forwarded":{"sender":"carol","at":3}}"#),
        ])
        let one = #""at":11,"kind":"text","body":{"text":"one"}"#
        let two = #""at":12,"kind":"text","body":{"text":"two"}"#
        let alice = #""sender":"alice","nick":"Alice""#
        #expect(
            try wire(self.bundle(world, [1, 2]).body) == wire(#"{"title":"Rowing","items":[{\#(alice),\#(one)},{\#(alice),\#(two)}]}"#))
        #expect(
            try wire(self.bundle(world, [2, 1], title: "Trip", anonymous: true).body)
                == wire(#"{"title":"Trip","items":[{\#(two)},{\#(one)}]}"#))
    }

    @Test func aBundleIsNotBundledButForwarded() throws {
        let inner = #"{"title":"T","items":[{"at":1,"kind":"text","body":{"text":"x"}}]}"#
        let world = try self.world([(.bundle, inner), (.text, #"{"text":"a"}"#)])
        let refusal = self.refusal { _ = try self.bundle(world, [2, 1]) }
        #expect(refusal?.code == .badRequest && refusal?.field == "seqs")
        // A copy of a bundle has no origin, because the bundle names the senders of its messages.
        #expect(try self.forward(world, [1]).map { try wire($0.body) } == [wire(inner)])
    }

    @Test func aBundleThatIsTooLargeIsRefused() throws {
        let text = String(repeating: "a", count: ChatLimits.textLength)
        let world = try self.world((1...17).map { _ in (.text, #"{"text":"\#(text)"}"#) })
        #expect(try self.bundle(world, Array(1...16)).body.utf8.count <= ChatLimits.requestBytes)
        let refusal = self.refusal { _ = try self.bundle(world, Array(1...17)) }
        #expect(refusal?.code == .tooLarge && refusal?.field == "seqs")
        #expect(try self.forward(world, Array(1...17)).count == 17, "each for itself fits")
    }

    @Test func theTitleMatchesTheConversation() throws {
        let world = try self.world([(.text, #"{"text":"a"}"#)])
        try world.conversation(9, .pair, members: [1, 2], texts: ["p"])
        try world.change {
            $0.events = [ViewWorld.message(1_000_002, 1, by: 2, #"{"text":"note"}"#)]
            var row = ConversationRow(
                key: ConversationKey(1_000_002), kind: .own, createdAt: 0, settings: ConversationSettings())
            (row.counters.lastSeq, row.counters.lastN, row.counters.memberCount) = (1, 1, 1)
            $0.conversations = [ConversationChange(key: row.key, counters: row.counters, row: row)]
        }
        func title(_ source: Int64) throws -> JSONValue? {
            let contents = try self.forward(world, [1]) {
                $0.isBundle = true
                $0.source = ConversationID(number: source)
            }
            return try wire(try #require(contents.first).body)["title"]
        }
        #expect(try title(7) == "Rowing")
        #expect(try title(9) == "Alice", "the other user of a pair")
        #expect(try title(1_000_002) == "Messages", "the own notes")
        try world.account(1) { $0.nickname = "" }
        #expect(try title(9) == "alice")
    }
}

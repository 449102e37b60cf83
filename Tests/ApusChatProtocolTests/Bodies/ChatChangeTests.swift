import ApusChatProtocol
import ApusChatReference
import ApusJSON
import Testing

@Suite("Changes of a log")
struct ChatChangeTests {
    private func event(_ kind: EventKind, _ body: JSONObject = [:]) -> ChatEvent {
        ChatEvent(
            conversation: ConversationID(number: 1), seq: 5, n: nil, sender: UserName("alice"), id: nil, at: 1, kind: kind, ref: 3,
            body: body)
    }

    /// Returns the kinds of a described change. Several kinds can have the same body.
    private static func kinds(of shape: Shape) -> [EventKind] {
        EventKind.table.map(\.name).filter { name in
            shape.name.split(separator: ", ").contains { $0 == name || ($0.hasSuffix(".*") && name.hasPrefix($0.dropLast())) }
        }.map { EventKind(rawValue: $0) }
    }

    @Test func everyDescribedChangeIsRead() throws {
        var read: Set<EventKind> = []
        for shape in ChatReference.bodies.drop(while: { $0.name != "edit" }) {
            let body = try #require(try JSONReader.read(shape.example).objectValue)
            let kinds = Self.kinds(of: shape)
            #expect(!kinds.isEmpty, "\(shape.name)")
            for kind in kinds {
                #expect(ChatChange(self.event(kind, body)) != nil, "\(kind)")
                read.insert(kind)
            }
        }
        // Each kind of change is described or has no body.
        let changes = EventKind.table.map { EventKind($0.code) }.filter { !$0.isMessage && $0 != .hidden }
        #expect(read.union([.recall, .pollClose]) == Set(changes))
        #expect(ChatChange(self.event(.recall)) == .recall && ChatChange(self.event(.pollClose)) == .pollClose)
    }

    @Test func messagesAndUnknownKindsAreNotChanges() {
        for kind in [EventKind.text, .poll, .hidden, EventKind(rawValue: "x.a"), EventKind(rawValue: "sticker")] {
            #expect(ChatChange(self.event(kind, ["text": "a"])) == nil)
        }
    }

    @Test func aWrongBodyIsNotAChange() {
        #expect(ChatChange(self.event(.react, ["key": ""])) == nil)
        #expect(ChatChange(self.event(.memberJoin, ["users": 1])) == nil)
        #expect(ChatChange(self.event(.memberLeave)) == .members(MemberBody()))
        #expect(throws: WireError.self) { try ChatChange(reading: self.event(.edit)) }
    }

    @Test func typedValuesOfChanges() throws {
        guard case .members(let join)? = ChatChange(self.event(.memberJoin, ["users": ["bob"], "via": "link"])) else {
            Issue.record("not a change of members")
            return
        }
        #expect(join.users.map(\.rawValue) == ["bob"] && join.via == .link && join.role == nil)
        guard case .conversationSet(let set)? = ChatChange(self.event(.conversationSet, ["avatar": "", "settings": ["slow": 5]])) else {
            Issue.record("not a change of a conversation")
            return
        }
        #expect(set.avatar == .remove && set.settings?.slow == 5 && set.title == nil)
    }
}

import ApusChatProtocol
import ApusChatService
import ApusChatStorage
import ApusJSON
import Testing

/// The size of answers is bounded, regardless of the texts of users.
@Suite(.timeLimit(.minutes(5)))
struct AnswerSizeTests {
    private static let names = ["alice"] + (1...120).map { "user\($0)-" + String(repeating: "x", count: 20) }
    /// A text of a length whose JSON is the longest: six bytes for each scalar.
    private static func text(_ length: Int) -> String { String(repeating: "\u{1}", count: length) }
    private static func json(_ length: Int) -> String { String(repeating: "\\u0001", count: length) }

    private static func fill(_ storage: any MaintainedStorage) throws {
        var prefill = Prefill()
        for index in names.indices {
            let key = Int64(index) + 1
            var account = AccountRow(
                key: UserKey(key), name: UserName(prepared: names[index]), nickname: text(ChatLimits.nickLength),
                selfConversation: ConversationKey(key - 1 + 1_000_000))
            account.statusText = text(ChatLimits.statusLength)
            prefill.changes.accounts.append(account)
            guard index > 0 else { continue }
            var contact = ContactRow(address: ContactAddress(owner: UserKey(1), peer: UserKey(key)))
            (contact.relation, contact.alias) = (.friend, text(ChatLimits.nickLength))
            prefill.changes.contacts.append(contact)
        }
        var open = ConversationSettings()
        (open.join, open.listed) = (.open, true)
        for key in 1...60 as ClosedRange<Int64> {
            prefill.conversation(
                key, .group, title: text(ChatLimits.titleLength), about: text(ChatLimits.aboutLength), members: [2, 1], settings: open,
                bodies: [#"{"text":"\#(json(ChatLimits.textLength))"}"#])
        }
        let body = #"{"text":"\#(json(180))"}"#
        prefill.conversation(
            100, .group, title: "Long", members: (1...121).map { $0 }, bodies: Array(repeating: body, count: 400))
        for seq in 1...400 as ClosedRange<Int64> {
            var annotation = AnnotationRow(address: AnnotationAddress(EventAddress(ConversationKey(100), seq), UserKey(1)), n: seq)
            annotation.reactions = (0..<ChatLimits.ownReactions).map {
                "\($0)" + String(repeating: "😀", count: ChatLimits.reactionLength - 1)
            }
            prefill.changes.annotations.append(annotation)
        }
        for number in 0..<ChatLimits.links {
            prefill.changes.links.append(
                LinkRow(
                    code: String(repeating: "k", count: 62) + "\(10 + number)", conversation: ConversationKey(100), creator: UserKey(2),
                    createdAt: Prefill.start))
        }
        prefill.conversation(102, .group, title: "Read", members: (1...100).map { $0 }, bodies: [body])
        for index in prefill.changes.members.indices where prefill.changes.members[index].address.conversation == ConversationKey(102) {
            prefill.changes.members[index].readN = 1
        }
        for number in 0..<ChatLimits.scheduledMessages {
            prefill.changes.scheduled.append(
                ScheduledRow(
                    address: ScheduledAddress(UserKey(1), .make("s\(number)")), conversation: ConversationKey(100), kind: .text,
                    body: #"{"text":"\#(json(ChatLimits.textLength))"}"#, sendAt: 4_000_000_000_000, hash: RequestHash(1, 0, 0, 0)))
        }
        try prefill.write(to: storage)
    }

    /// Requests all pages of a list.
    ///
    /// - Returns: The number of entries.
    private func walk(_ peer: ChatPeer, _ verb: String, _ request: JSONObject, entries: String) async throws -> Int {
        var request = request
        var count = 0
        for _ in 0..<200 {
            let answer = try await peer.raw(verb, .object(request))
            let bytes = try JSONWriter.bytes(of: answer).count
            #expect(bytes <= ChatLimits.answerBytes, "\(verb) has \(bytes) bytes")
            count += answer[entries]?.arrayValue?.count ?? 0
            guard let page = answer["page"], page != .null else { return count }
            request["page"] = page
        }
        Issue.record("\(verb) does not end")
        return count
    }

    @Test func everyPageOfEveryListIsBounded() async throws {
        try await withService(users: Self.names, configure: { $0.verbs.directory = .open }, prefill: Self.fill) { fixture in
            let alice = try await fixture.client("alice")
            let long: JSONValue = .string(ConversationID(number: 100).rawValue)
            #expect(try await self.walk(alice, "sync", [:], entries: "heads") == 63)
            let listed = try await self.walk(alice, "directory", [:], entries: "conversations")
            #expect(listed == 60)
            #expect(try await self.walk(alice, "members", ["conv": long], entries: "members") == 121)
            #expect(try await self.walk(alice, "contacts", [:], entries: "contacts") == 120)
            #expect(try await self.walk(alice, "people", ["query": "xxxx"], entries: "users") == 120)
            #expect(try await self.walk(alice, "scheduled", [:], entries: "scheduled") == ChatLimits.scheduledMessages)
            let users: JSONValue = .array(Self.names.prefix(ChatLimits.requestUsers).map { .string($0) })
            #expect(try await self.walk(alice, "users", ["names": users], entries: "users") == ChatLimits.requestUsers)
            #expect(try await self.walk(alice, "reactions", ["conv": long, "ref": 1], entries: "reactions") == ChatLimits.ownReactions)
            #expect(try await self.walk(alice, "link.list", ["conv": long], entries: "links") == ChatLimits.links)
            let read: JSONValue = .string(ConversationID(number: 102).rawValue)
            #expect(try await self.walk(alice, "readers", ["conv": read, "seq": 1], entries: "readers") == 99)
            for (verb, request) in [
                ("conversation.info", ["conv": .string(ConversationID(number: 1).rawValue)]), ("settings", [:]), ("devices", [:]),
                ("call.servers", [:]),
            ] as [(String, JSONObject)] { _ = try await self.walk(alice, verb, request, entries: "") }
        }
    }

    /// Messages of the maximum length that a search finds.
    private static func fillSearch(_ storage: any MaintainedStorage) throws {
        var prefill = Prefill()
        let body = #"{"text":"needle \#(json(ChatLimits.textLength - 7))"}"#
        prefill.conversation(101, .group, title: "Found", members: [1, 2], bodies: Array(repeating: body, count: 12))
        try prefill.write(to: storage)
    }

    @Test func everyPageOfASearchIsBounded() async throws {
        try await withService(prefill: Self.fillSearch) { fixture in
            let alice = try await fixture.client("alice")
            // The indexer runs after the next change.
            _ = try await alice.send("x", to: ConversationID(number: 101), id: "m")
            var count = 0
            while count < 12 {
                let found = try await self.walk(alice, "search", ["query": "needle"], entries: "hits")
                #expect(found >= count)
                count = found
            }
            #expect(count == 12)
            let first = try await alice.ask(ChatVerbs.search, SearchRequest(query: "needle"))
            #expect(first.hits.count < 12 && first.page != nil, "the size ends a page")
        }
    }

    @Test func theListOfDevicesFitsIntoOneAnswer() throws {
        let device = ChatDevice(
            device: DeviceID(number: .max), name: Self.text(ChatLimits.nickLength), platform: Self.text(20), at: WireReader.largestInteger,
            lastSeen: WireReader.largestInteger, address: Self.text(64), isCurrent: true)
        let answer = DevicesAnswer(devices: Array(repeating: device, count: ChatLimits.devices))
        #expect(try DevicesAnswer(json: answer.json) == answer)
        #expect(try JSONWriter.bytes(of: answer.json).count <= ChatLimits.answerBytes)
    }

    @Test func aPageOfHistoryIsBoundedWithTheOwnReactions() async throws {
        try await withService(users: Self.names, prefill: Self.fill) { fixture in
            let alice = try await fixture.client("alice")
            let conversation = ConversationID(number: 100)
            var next: Int64 = 1
            var pages = 0
            while next <= 400 {
                let answer = try await alice.ask(
                    ChatVerbs.history, HistoryRequest(conversation: conversation, range: .from(next), limit: ChatLimits.historyEvents))
                let bytes = try JSONWriter.bytes(of: answer.json).count
                #expect(bytes <= ChatLimits.answerBytes, "history has \(bytes) bytes")
                #expect(answer.events.first?.seq == next)
                #expect(answer.mine.map(\.seq) == answer.events.map(\.seq))
                next = (answer.events.last?.seq ?? .max - 1) + 1
                pages += 1
            }
            #expect(pages > 2, "the size ends a page, not the number of events")
            for range in [HistoryRequest.Range.newest, .before(401), .around(200)] {
                let answer = try await alice.ask(
                    ChatVerbs.history, HistoryRequest(conversation: conversation, range: range, limit: ChatLimits.historyEvents))
                #expect(try JSONWriter.bytes(of: answer.json).count <= ChatLimits.answerBytes)
                #expect(answer.events.count > 50)
            }
        }
    }
}

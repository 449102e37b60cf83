import ApusChatProtocol
import ApusJSON
import Foundation
import Testing

@testable import ApusChatClient

@Suite(.timeLimit(.minutes(1))) struct ChatEngineTests {
    @Test func firstSyncBringsTheConversations() async throws {
        let world = try await World()
        for number in 1...3 { world.server.write("m\(number)", in: pair) }
        await world.online()
        await world.event("m3")
        #expect(try await world.texts() == ["m1", "m2", "m3"])
        let info = try await world.engine.conversation(pair)
        #expect(info.name == "Bobby")
        #expect(info.unread == 3)
        #expect(info.last?.text == "m3")
        await world.end()
    }

    @Test func everyPageOfHeadsAndUsersIsFetched() async throws {
        let world = try await World()
        let people = (0..<25).map { ChatUser(id: UserID(unchecked: "p\($0)"), name: "person\($0)", display: "Person \($0)") }
        world.server.meet(people)
        world.server.answerInPages(of: 10)
        let conversations = (0..<35).map { ConversationID(unchecked: "many\($0)") }
        for conversation in conversations { world.server.write("in \(conversation)", in: conversation) }
        await world.online()
        #expect(world.server.asked(ChatVerb.hello).map { $0["page"]?.stringValue } == [nil, "10", "20"])
        let heads = world.server.asked(ChatVerb.sync).filter { $0["conv"] == nil }
        #expect(heads.map { $0["page"]?.stringValue } == [nil, "10", "20", "30"])
        #expect(try await world.engine.conversations().count == 35)
        for person in people { #expect(await world.engine.user(person.id) == person) }
        await world.event("in many34")
        // The time of the sync is stored with the last page.
        #expect(try world.store.lastSync() == world.server.head(of: conversations[34]).updatedAt)
        await world.end()
    }

    @Test func aSyncThatBreaksOffBetweenTwoPagesIsDoneAgain() async throws {
        let world = try await World()
        world.server.answerInPages(of: 1)
        for conversation in [pair, group] { world.server.write("m", in: conversation) }
        world.server.failNextPage(ChatError(.storage, message: "busy"))
        world.transport.goOnline()
        #expect(await world.time.nextSleeper() == .milliseconds(500))
        #expect(try world.store.lastSync() == nil)
        world.time.wakeAll()
        _ = await world.changes.first { if case .connection(.online) = $0 { true } else { nil } }
        #expect(try await world.engine.conversations().count == 2)
        #expect(try world.store.lastSync() != nil)
        await world.end()
    }

    @Test func aPageThatLeadsToItselfIsNoAnswer() async throws {
        let world = try await World()
        world.server.answerInPages(of: 1, endlessly: true)
        world.transport.goOnline()
        #expect(await world.time.nextSleeper() == .milliseconds(500))
        #expect(world.server.asked(ChatVerb.hello).count == 2)
        await world.end()
    }

    @Test func aConversationReportsOnlyItsOwnChanges() async throws {
        let world = try await World()
        for conversation in [pair, group] { world.server.create(conversation) }
        var changes = ChatConversation(id: pair, engine: world.engine).changes.makeAsyncIterator()
        await world.online()
        world.server.write("another", in: group)
        world.server.write("own", in: pair)
        await world.event("own")
        await world.end()
        var texts: [String?] = []
        while let change = await changes.next() {
            #expect(change.conversation == pair)
            if case .event(let message) = change { texts.append(message.text) }
        }
        #expect(texts == ["own"])
    }

    @Test func lostPushesAreFetched() async throws {
        let world = try await World()
        world.server.create(pair)
        await world.online()
        world.server.write("m1", in: pair, push: false)
        world.transport.deliver(.pushesLost)
        await world.event("m1")
        #expect(try await world.texts() == ["m1"])
        await world.end()
    }

    @Test func messagesWrittenOfflineGoOutInOrderOnce() async throws {
        let world = try await World()
        world.server.create(pair)
        await world.online()
        world.transport.goOffline()
        _ = await world.changes.first { if case .connection(.connecting) = $0 { true } else { nil } }
        for number in 1...5 { #expect(try await world.engine.send("m\(number)").delivery == .queued) }
        #expect(try await world.texts() == ["m1", "m2", "m3", "m4", "m5"])
        #expect(world.server.log(of: pair).isEmpty)
        world.transport.goOnline()
        await world.event("m5")
        #expect(world.server.log(of: pair).map(\.body["text"]?.stringValue) == ["m1", "m2", "m3", "m4", "m5"])
        #expect(try await world.texts() == ["m1", "m2", "m3", "m4", "m5"])
        #expect(try world.store.queued().isEmpty)
        #expect(try await world.engine.conversation(pair).unread == 0)
        await world.end()
    }

    @Test func messagesSurviveARestart() async throws {
        try await withTemporaryStore { path in
            let server = FakeServer()
            server.create(pair)
            let first = try await World(server, path: path)
            await first.online()
            first.transport.goOffline()
            _ = await first.changes.first { if case .connection(.connecting) = $0 { true } else { nil } }
            let ids = [try await first.engine.send("m1").id, try await first.engine.send("m2").id]
            await first.end()

            let second = try await World(server, path: path)
            await second.online()
            await second.event("m2")
            #expect(server.log(of: pair).map(\.id) == ids)
            await second.end()
        }
    }

    @Test func lostAckIsNoDuplicate() async throws {
        let world = try await World()
        world.server.create(pair)
        await world.online()
        world.server.loseAcks(2)
        try await world.engine.send("m1")
        try await world.engine.send("m2")
        #expect(await world.time.nextSleeper() == .seconds(1))
        world.time.wakeAll()
        #expect(await world.time.nextSleeper() == .seconds(2))
        world.time.wakeAll()
        await world.event("m2")
        #expect(world.server.log(of: pair).map(\.seq) == [1, 2])
        #expect(world.server.asked(ChatVerb.send).count == 4)
        #expect(try await world.texts() == ["m1", "m2"])
        await world.end()
    }

    @Test(arguments: [ChatError.Code.forbidden, .conflict, ChatError.Code(rawValue: "of_a_later_server")])
    func refusedMessageStaysWithItsReasonAndTheNextGoesOn(code: ChatError.Code) async throws {
        let world = try await World()
        world.server.create(pair)
        await world.online()
        world.server.fail(ChatVerb.send, ChatError(code, message: "you are muted"))
        try await world.engine.send("m1")
        try await world.engine.send("m2")
        let refused = await world.changes.first { change -> ChatMessage? in
            if case .outgoing(let message) = change, message.delivery == .refused { message } else { nil }
        }
        #expect(refused?.refusal == "you are muted")
        await world.event("m2")
        #expect(world.server.log(of: pair).map(\.body["text"]?.stringValue) == ["m2"])
        #expect(try await world.texts() == ["m2", "m1"])
        await world.end()
    }

    @Test func fullDiskOnTheServerIsTriedAgain() async throws {
        let world = try await World()
        world.server.create(pair)
        await world.online()
        world.server.fail(ChatVerb.send, ChatError(.storage, message: "disk full"))
        try await world.engine.send("m1")
        #expect(await world.time.nextSleeper() == .seconds(1))
        world.time.wakeAll()
        await world.event("m1")
        await world.end()
    }

    @Test func lostPushIsPulledAfterHalfASecond() async throws {
        let world = try await World()
        world.server.write("m1", in: pair)
        await world.online()
        await world.event("m1")
        world.server.write("m2", in: pair, push: false)
        world.server.write("m3", in: pair)
        #expect(await world.time.nextSleeper() == .milliseconds(500))
        #expect(try await world.texts() == ["m1"])
        world.time.wakeAll()
        await world.event("m3")
        #expect(try await world.texts() == ["m1", "m2", "m3"])
        await world.end()
    }

    @Test func reconnectAsksForWhatChangedSinceTenSecondsBeforeTheLastSync() async throws {
        let world = try await World()
        world.server.write("m1", in: pair)
        await world.online()
        await world.event("m1")
        world.transport.goOffline()
        for number in 2...4 { world.server.write("m\(number)", in: pair) }
        world.transport.goOnline()
        await world.event("m4")
        #expect(try await world.texts() == ["m1", "m2", "m3", "m4"])
        let heads = world.server.asked(ChatVerb.sync).filter { $0["conv"] == nil }
        #expect(heads.count == 2)
        #expect(heads.first?["since"] == nil)
        #expect(heads.last?["since"] == .integer(1_020_000 - 10_000))
        await world.end()
    }

    @Test func tooFarBehindLeavesAGapThatCanBeFilled() async throws {
        let world = try await World {
            $0.sync.maximumCatchUp = 10
            $0.sync.windowLimit = 3
        }
        world.server.write("m1", in: pair)
        await world.online()
        await world.event("m1")
        world.transport.goOffline()
        for number in 2...20 { world.server.write("m\(number)", in: pair) }
        world.transport.goOnline()
        let gap = await world.changes.first { if case .gap(_, let range) = $0 { range } else { nil } }
        #expect(gap == 2...17)
        await world.event("m20")
        #expect(try await world.texts() == ["m1", "gap 2...17", "m18", "m19", "m20"])
        #expect(try await world.engine.loadEarlier(limit: 10, in: pair) == 10)
        #expect(try await world.texts().prefix(3) == ["m1", "gap 2...7", "m8"])
        #expect(try await world.engine.loadEarlier(limit: 10, in: pair) == 7)
        #expect(try await world.texts() == (1...20).map { "m\($0)" })
        #expect(try await world.engine.loadEarlier(limit: 10, in: pair) == 0)
        await world.end()
    }

    @Test func anUnannouncedConversationIsFetched() async throws {
        let world = try await World()
        await world.online()
        world.server.write("m1", in: group)
        #expect(await world.time.nextSleeper() == .milliseconds(500))
        world.time.wakeAll()
        await world.event("m1")
        #expect(try await world.engine.conversation(group).title == "Swifts")
        await world.end()
    }

    @Test func announcedConversationAppliesItsFirstEventAtOnce() async throws {
        let world = try await World()
        await world.online()
        world.server.create(group)
        world.server.push(ChatVerb.head, world.server.head(of: group))
        world.server.write("m1", in: group)
        await world.event("m1")
        await world.end()
    }

    @Test func failedGreetingIsRepeated() async throws {
        let world = try await World()
        world.server.fail(ChatVerb.hello, ChatError(.internal, message: "not yet"))
        world.transport.goOnline()
        #expect(await world.time.nextSleeper() == .milliseconds(500))
        world.time.wakeAll()
        _ = await world.changes.first { if case .connection(.online) = $0 { true } else { nil } }
        await world.end()
    }

    @Test func serverThatLeavesIsSoughtAgain() async throws {
        let world = try await World()
        await world.online()
        #expect(world.transport.connects == 1)
        world.server.push(ChatVerb.bye, ChatBye(reason: .shutdown))
        world.transport.goOffline(comesBack: false)
        #expect(await world.time.nextSleeper() == .seconds(2))
        world.time.wakeAll()
        await world.online()
        #expect(world.transport.connects == 2)
        await world.end()
    }

    @Test func endedSessionIsNotSoughtAgain() async throws {
        let world = try await World()
        await world.online()
        world.server.push(ChatVerb.bye, ChatBye(reason: .loggedOut))
        let reason = await world.changes.first { if case .connection(.signedOut(let reason)) = $0 { reason } else { nil } }
        #expect(reason?.contains("logged_out") == true)
        #expect(world.transport.connects == 1)
        await world.end()
    }

    @Test func refusedSessionSaysSo() async throws {
        let world = try await World()
        world.transport.refuse(ChatError(.unauthorized, message: "unauthorized"))
        let reason = await world.changes.first { if case .connection(.signedOut(let reason)) = $0 { reason } else { nil } }
        #expect(reason == "unauthorized")
        await world.end()
    }

    @Test func peopleComeInPages() async throws {
        let world = try await World()
        await world.online()
        world.server.nextPage = "1:bobby"
        let first = try await world.engine.users(matching: "b")
        #expect(first.users.map(\.name) == ["alice", "bobby"] && first.next == "1:bobby")
        world.server.nextPage = nil
        #expect(try await world.engine.users(matching: "b", after: first.next).next == nil)
        #expect(world.server.asked(ChatVerb.users) == [["query": "b"], ["query": "b", "after": "1:bobby"]])
        await world.end()
    }

    @Test func marksGoToTheServerAlsoLater() async throws {
        let world = try await World()
        world.server.write("m1", in: pair)
        world.server.write("m2", in: pair)
        await world.online()
        await world.event("m2")
        world.transport.goOffline()
        _ = await world.changes.first { if case .connection(.connecting) = $0 { true } else { nil } }
        try await world.engine.markRead(upTo: nil, in: pair)
        #expect(try await world.engine.conversation(pair).unread == 0)
        #expect(world.server.read(by: alice.id, in: pair) == 0)
        world.transport.goOnline()
        _ = await world.changes.first { if case .connection(.online) = $0 { true } else { nil } }
        try await world.engine.send("m3")
        await world.event("m3")
        #expect(world.server.asked(ChatVerb.mark).first?["read"] == .integer(2))
        await world.end()
    }

    @Test func readMarkOfTheOtherTurnsSentIntoRead() async throws {
        let world = try await World()
        world.server.create(pair)
        await world.online()
        try await world.engine.send("m1")
        await world.event("m1")
        func delivery() async throws -> DeliveryState? {
            guard case .message(let message)? = try await world.engine.history(of: pair, before: nil, limit: 1).last else { return nil }
            return message.delivery
        }
        #expect(try await delivery() == .sent)
        world.server.push(ChatVerb.mark, ChatMark(conv: pair, user: bobby.id, read: 1))
        _ = await world.changes.first { if case .mark(let mark) = $0 { mark } else { nil } }
        #expect(try await delivery() == .read)
        await world.end()
    }

    @Test func presenceIsReported() async throws {
        let world = try await World()
        await world.online()
        world.server.push(ChatVerb.presence, ChatPresence(user: bobby.id, online: true, at: 1))
        let user = await world.changes.first { if case .presence(let user) = $0 { user } else { nil } }
        #expect(user?.online == true)
        #expect(await world.engine.user(bobby.id)?.online == true)
        await world.end()
    }

    @Test func pictureWrittenOfflineIsUploadedThenSent() async throws {
        let world = try await World()
        world.server.create(pair)
        await world.online()
        world.transport.goOffline()
        _ = await world.changes.first { if case .connection(.connecting) = $0 { true } else { nil } }
        _ = try await world.engine.send(
            kind: .image, body: .object(["text": "look"]), attachment: (bytes: [0x89, 0x50], type: "image/png"), in: pair)
        world.transport.goOnline()
        let message = await world.event("look")
        #expect(message?.kind == .image)
        guard case .image(let body)? = message?.content else {
            Issue.record("not a picture: \(String(describing: message))")
            return
        }
        #expect(body.width == 3 && body.height == 2 && body.size == 2)
        await world.end()
    }

    @Test func pushThatMakesNoSenseChangesNothing() async throws {
        let world = try await World()
        await world.online()
        for name in ["event", "head", "mark", "presence", "bye", "later"] {
            world.transport.deliver(.push(name: name, payload: .array([.null])))
        }
        world.server.write("m1", in: pair)
        #expect(await world.time.nextSleeper() == .milliseconds(500))
        world.time.wakeAll()
        await world.event("m1")
        await world.end()
    }

    /// The number is stored, so a trap would repeat at every start.
    @Test(arguments: [(stored: Int64.min, since: Int64(0)), (-1, 0), (9_999, 0), (10_000, 0), (10_001, 1), (.max, .max - 10_000)])
    func anySyncTimeInTheStoreIsSurvived(stored: Int64, since: Int64) async throws {
        let world = try await World()
        try world.store.save(heads: [], synchronizedAt: stored)
        await world.online()
        #expect(world.server.asked(ChatVerb.sync).first?["since"] == .integer(since))
        await world.end()
    }

    @Test func pairIsFoundByNameAndOfflineAfterwards() async throws {
        let world = try await World()
        await world.online()
        #expect(try await world.engine.conversation(with: "Bobby") == pair)
        world.transport.goOffline()
        _ = await world.changes.first { if case .connection(.connecting) = $0 { true } else { nil } }
        #expect(try await world.engine.conversation(with: "bobby") == pair)
        await #expect(throws: ChatClientError.self) { try await world.engine.conversation(with: "nobody") }
        await world.end()
    }

    @Test func textTheServerWouldRefuseIsRefusedAtOnce() async throws {
        let world = try await World()
        world.server.create(pair)
        await world.online()
        await #expect(throws: ChatClientError.self) { try await world.engine.send("") }
        await #expect(throws: ChatClientError.self) { try await world.engine.send(String(repeating: "x", count: 8_001)) }
        await #expect(throws: ChatClientError.self) { try await world.engine.send("m", in: group) }
        await world.end()
    }
}

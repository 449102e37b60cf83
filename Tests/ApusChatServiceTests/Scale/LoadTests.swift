import ApusChatCore
import ApusChatProtocol
import ApusChatStorage
import ApusEventLoop
import ApusJSON
import Testing

@testable import ApusChatService

/// Many conversations, large groups and many clients at once.
@Suite(.timeLimit(.minutes(4)))
struct LoadTests {
    @Test func aUserWithFiveThousandConversationsHasASmallFirstScreen() async throws {
        try await withService(
            prefill: { storage in
                var prefill = Prefill()
                for key in 1...5_000 as ClosedRange<Int64> {
                    prefill.conversation(
                        key, .group, title: "Conversation \(key)", members: [2, 1, 3], count: key > 4_900 ? 10_000 : nil,
                        bodies: [#"{"text":"\#(String(repeating: "word ", count: 200))"}"#])
                }
                try prefill.write(to: storage)
            }
        ) { fixture in
            let alice = ChatPeer(url: fixture.url, token: "alice:0")
            try await alice.connect()
            var heads = 0
            let clock = ContinuousClock()
            var answer: JSONValue = .null
            let time = try await clock.measure {
                let hello = HelloRequest(device: HelloDevice(name: "Test", platform: "test"), sync: SyncRequest())
                answer = try await alice.raw(ChatVerbs.hello.name, hello.json)
            }
            let bytes = try JSONWriter.bytes(of: answer).count
            print("first screen of 5,000 conversations: \(bytes) bytes in \(time)")
            #expect(bytes <= 300_000)
            var sync = try #require(try HelloAnswer(json: answer).sync)
            #expect(sync.heads.count == ChatLimits.newestHeads)
            #expect(sync.heads.contains { $0.members == 10_000 })
            while true {
                heads += sync.heads.count
                guard let page = sync.page else { break }
                sync = try await alice.ask(ChatVerbs.sync, SyncRequest(page: page))
                #expect(try JSONWriter.bytes(of: sync.json).count <= ChatLimits.answerBytes)
            }
            #expect(heads == 5_001)
        }
    }

    /// 500 members read a message while the clock does not advance, so that all reads are in one
    /// second.
    @Test(arguments: [100, 500]) func aMessageThatAllMembersReadCostsEachThreeFrames(count: Int) async throws {
        let names = (1...count).map { "user\($0)" }
        try await withService(
            users: names, isFrozen: true,
            prefill: { storage in
                var prefill = Prefill()
                prefill.conversation(1, .group, title: "Readers", members: (1...Int64(count)).map { $0 })
                try prefill.write(to: storage)
            }
        ) { fixture in
            var peers: [ChatPeer] = []
            for name in names.prefix(20) { peers.append(try await fixture.client(name)) }
            let conversation = ConversationID(number: 1)
            let sent = try await peers[0].send("read this", to: conversation, id: "m1")
            let read = MarkRequest(conversation: conversation, read: sent.n)
            for user in 2...Int64(count) {
                _ = try await fixture.service.answer(
                    ChatVerbs.mark.name, read.json, of: Requester(user: UserKey(user), device: DeviceKey(user * 100)))
            }
            for user in 1...Int64(count) {
                let head = try await fixture.service.log.withStorage { try $0.head(of: UserKey(user), in: ConversationKey(1)) }
                #expect(head?.member.readN == sent.n)
            }
            _ = try await peers[0].send("end", to: conversation, id: "m2")
            for peer in peers.dropFirst() {
                var frames = 0
                _ = try await peer.next(ChatPushes.event, counting: &frames) { $0.events.contains { $0.body["text"] == "end" } }
                #expect(frames <= 4, "three frames, and that of the second message")
            }
        }
    }

    @Test func threeHundredClientsReconnectAfterARestart() async throws {
        let names = (1...100).map { "user\($0)" }
        try await withService(users: names, configure: { $0.rates = .standard }) { fixture in
            var peers: [(peer: ChatPeer, token: String)] = []
            for name in names {
                for device in 0..<3 { peers.append((try await fixture.client(name, device: Int64(device)), "\(name):\(device)")) }
            }
            fixture.service.hub.onLoop { $0.restart() }
            let url = fixture.url
            let synced = try await withThrowingTaskGroup(of: Int.self) { group in
                for (peer, token) in peers {
                    group.addTask {
                        await peer.waitUntilClosed()
                        for _ in 0..<20 {
                            let next = ChatPeer(url: url, token: token)
                            do {
                                try await next.connect()
                                let hello = HelloRequest(device: HelloDevice(name: "Test", platform: "test"), sync: SyncRequest())
                                let heads = try await next.ask(ChatVerbs.hello, hello).sync?.heads.count ?? 0
                                next.disconnect()
                                return heads
                            } catch let error as ChatError {
                                // Waits as long as the server requests.
                                try await Task.sleep(for: .milliseconds(error.retryAfter ?? 1_000))
                            }
                        }
                        return 0
                    }
                }
                return try await group.reduce(into: [Int]()) { $0.append($1) }
            }
            #expect(synced == Array(repeating: 1, count: 300))
        }
    }
}

extension ChatPeer {
    /// Waits for a push as `next` does, and adds the number of received pushes to `count`.
    fileprivate func next<Payload>(_ push: ChatPush<Payload>, counting count: inout Int, where fits: (Payload) -> Bool) async throws
        -> Payload
    {
        while true {
            let (name, payload) = try await self.nextPush()
            count += 1
            guard name == push.name else { continue }
            let value = try Payload(json: payload)
            if fits(value) { return value }
        }
    }
}

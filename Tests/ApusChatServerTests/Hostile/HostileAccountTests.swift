import ApusChatProtocol
import ApusJSON
import ApusPasswords
import ApusSocketIOClient
import ApusSocketIOServer
import Testing

@testable import ApusChatServer

/// A hostile account against the whole server with its default budgets.
@Suite(.timeLimit(.minutes(5)))
struct HostileAccountTests {
    private static func create(_ number: Int, inviting users: [UserName]) -> CreateRequest {
        CreateRequest(id: id("g\(number)"), kind: .group, title: "Spam \(number)", users: users)
    }

    // MARK: Invitations

    @Test func hundredsOfInvitationsLeaveTheClientOfTheVictimUsable() async throws {
        try await RealServer.with { server in
            let victim = try await server.user("victim", from: "203.0.113.1")
            let screen = try await victim.connect()
            var made = 0
            for attacker in 0..<9 {
                let mallory = try await server.user("mallory\(attacker)", from: "198.51.\(attacker).1")
                for number in 0..<51 {
                    let error = await refusal {
                        _ = try await mallory.ask(ChatVerbs.conversationCreate, Self.create(number, inviting: [victim.name]))
                    }
                    if let error {
                        #expect(error.code == .tooMany)
                        #expect(try #require(error.retryAfter) > 60_000, "the number of invitations is that of a day")
                        break
                    }
                    made += 1
                }
            }
            #expect(made >= 430)
            var request = SyncRequest()
            var invitations = 0
            repeat {
                let answer = try await screen.ask(ChatVerbs.sync, request)
                #expect(try JSONWriter.bytes(of: answer.json).count <= ChatLimits.answerBytes)
                invitations += answer.heads.count { $0.state == .invited }
                request.page = answer.page
            } while request.page != nil
            #expect(invitations == ChatLimits.openInvitations)
            #expect(try await screen.ask(ChatVerbs.sync, SyncRequest()).heads.count <= ChatLimits.newestHeads)
        }
    }

    @Test func aRequestAboveTheDailyInvitationsInvitesNoUser() async throws {
        try await RealServer.with { server in
            let mallory = try await server.user("mallory", from: "198.51.100.1")
            var names: [UserName] = []
            for number in 0..<6 { names.append(try await server.user("user\(number)", from: "203.0.113.\(number)").name) }
            for number in 0..<49 { _ = try await mallory.ask(ChatVerbs.conversationCreate, Self.create(number, inviting: [names[0]])) }
            let error = await refusal {
                _ = try await mallory.ask(ChatVerbs.conversationCreate, Self.create(50, inviting: Array(names[1...])))
            }
            #expect(error?.code == .tooMany)
            _ = try await mallory.ask(ChatVerbs.conversationCreate, Self.create(51, inviting: [names[1]]))
            let last = await refusal { _ = try await mallory.ask(ChatVerbs.conversationCreate, Self.create(52, inviting: [names[2]])) }
            #expect(last?.code == .tooMany)
        }
    }

    // MARK: The directory and presence

    @Test func theDirectoryCannotBeWalked() async throws {
        try await RealServer.with { server in
            let mallory = try await server.user("mallory", from: "198.51.100.1")
            let victim = try await server.user("abigail", from: "203.0.113.1")
            let there = try await victim.connect()
            #expect(await refusal { _ = try await mallory.ask(ChatVerbs.people, PeopleRequest(query: "")) } != nil)
            var answered = 0
            var error: ChatError?
            for letter in "abcdefghijklmnopqrst" where error == nil {
                for query in ["\(letter)", "\(letter)b"] where error == nil {
                    error = await refusal {
                        let users = try await mallory.ask(ChatVerbs.people, PeopleRequest(query: query)).users
                        #expect(users.isEmpty)
                        answered += 1
                    }
                }
            }
            #expect(error?.code == .tooMany && error?.retryAfter ?? 0 > 0)
            // The budget permits a burst of 10, and the empty query used one of them.
            #expect(answered == 9)
            there.close()
        }
    }

    @Test func strangersSeeNoPresence() async throws {
        try await RealServer.with { server in
            let mallory = try await server.user("mallory", from: "198.51.100.1")
            let victim = try await server.user("victim", from: "203.0.113.1")
            let there = try await victim.connect()
            let watching = try await mallory.connect()
            for users in [
                try await watching.ask(ChatVerbs.users, UsersRequest(names: [victim.name])).users,
                try await watching.ask(ChatVerbs.people, PeopleRequest(query: "victim")).users,
            ] {
                #expect(users.map(\.name) == [victim.name])
                #expect(users.allSatisfy { $0.online == nil && $0.lastSeen == nil })
            }
            there.close()
            _ = try await watching.ask(ChatVerbs.sync, SyncRequest())
            #expect(!watching.received.contains { $0.name == ChatPushes.presence.name })
            watching.close()
        }
    }

    // MARK: Budgets

    @Test func aFloodOfMessagesStopsTheSenderOnly() async throws {
        try await RealServer.with { server in
            let mallory = try await server.user("mallory", from: "198.51.100.1")
            let victim = try await server.user("victim", from: "203.0.113.1")
            let flood = try await mallory.connect()
            let pair = try await flood.ask(ChatVerbs.conversationOpen, OpenRequest(id: id("o"), user: victim.name)).head.conversation
            var error: ChatError?
            for number in 0..<400 where error == nil {
                error = await refusal {
                    _ = try await flood.ask(
                        ChatVerbs.send, SendRequest(id: id("m\(number)"), conversation: pair, kind: .text, body: ["text": "spam"]))
                }
            }
            #expect(error?.code == .tooMany && error?.retryAfter ?? 0 > 0)
            let answer = try await victim.connect().ask(
                ChatVerbs.send, SendRequest(id: id("v"), conversation: pair, kind: .text, body: ["text": "stop"]))
            #expect(answer.n == 100, "a burst of 100, of which the conversation took one")
        }
    }

    @Test func connectionsOfOneAccountAreBounded() async throws {
        try await RealServer.with { server in
            let mallory = try await server.user("mallory", from: "198.51.100.1")
            let victim = try await server.user("victim", from: "203.0.113.1")
            var open: [RealSocket] = []
            var refused = 0
            for _ in 0..<40 {
                do { open.append(try await mallory.connect()) } catch { refused += 1 }
            }
            #expect(open.count == 20 && refused == 20)
            _ = try await victim.connect().ask(ChatVerbs.sync, SyncRequest())
            for socket in open { socket.close() }
        }
    }

    // MARK: Calls

    @Test func aMemberCannotEndTheCallOfTheOthers() async throws {
        try await RealServer.with { server in
            let alice = try await server.user("alice", from: "203.0.113.1")
            let bob = try await server.user("bob", from: "203.0.113.2")
            let mallory = try await server.user("mallory", from: "198.51.100.1")
            let (pushes, push) = AsyncStream.makeStream(of: JSONValue.self)
            let phone = RealSocket(server: server, token: bob.session.access, address: bob.address) { name, payload in
                if name == ChatPushes.event.name { push.yield(payload) }
            }
            try await phone.open()
            let desktop = try await alice.connect()
            let attacker = try await mallory.connect()
            let group = try await desktop.ask(ChatVerbs.conversationCreate, Self.create(1, inviting: [bob.name, mallory.name])).head
                .conversation
            for socket in [phone, attacker] {
                _ = try await socket.ask(ChatVerbs.memberAnswer, MemberAnswerRequest(id: id("j"), conversation: group, isAccepted: true))
            }
            let call = try await desktop.ask(ChatVerbs.callStart, CallStartRequest(id: id("c"), conversation: group, media: .audio)).call
            func report(_ state: CallState, _ socket: RealSocket, _ name: String) async throws {
                let request = CallUpdateRequest(id: id(name), conversation: group, call: call, state: state)
                _ = try await socket.ask(ChatVerbs.callUpdate, request)
            }
            func state() async throws -> JSONValue? {
                let page = try await desktop.ask(ChatVerbs.history, HistoryRequest(conversation: group, range: .from(call), limit: 1))
                return page.events.first?.body["state"]
            }
            try await report(.accepted, phone, "a")
            // A member who is not in the call, and one that joins and leaves it.
            for name in ["1", "1", "2"] { try await report(.ended, attacker, name) }
            try await report(.accepted, attacker, "a")
            try await report(.ended, attacker, "3")
            var error: ChatError?
            for number in 0..<1_000 where error == nil { error = await refusal { try await report(.ended, attacker, "f\(number)") } }
            #expect(error?.code == .tooMany)
            // The caller has no more rights: neither its departure nor a recall ends the call.
            let recall = RecallRequest(id: id("r"), conversation: group, ref: call)
            #expect(await refusal { _ = try await desktop.ask(ChatVerbs.recall, recall) }?.code == .conflict)
            try await report(.ended, desktop, "e")
            #expect(try await state() == "accepted", "bob is in the call")
            try await report(.ended, phone, "e")
            var ends = 0
            for await payload in pushes {
                ends += try EventPush(json: payload).events.count { $0.kind == .callUpdate && $0.body["state"] == "ended" }
                if ends > 0 { break }
            }
            #expect(ends == 1)
            for socket in [phone, desktop, attacker] { socket.close() }
        }
    }

    // MARK: Connections and uploads

    private func upload(_ user: RealUser, _ bytes: String) async throws -> RawHTTP.Answer {
        let created = try await user.server.http.post(
            "/api/uploads", "", user.fields.merging(["Tus-Resumable": "1.0.0", "Upload-Length": "\(bytes.utf8.count)"]) { $1 })
        guard let location = created.headers["location"] else { return created }
        let fields = ["Tus-Resumable": "1.0.0", "Upload-Offset": "0", "Content-Type": "application/offset+octet-stream"]
        return try await user.server.http.post(location, bytes, user.fields.merging(fields) { $1 }, method: "PATCH")
    }

    @Test func uploadsOfOneAccountAreBounded() async throws {
        try await RealServer.with { server in
            let mallory = try await server.user("mallory", from: "198.51.100.1")
            let victim = try await server.user("victim", from: "203.0.113.1")
            var statuses: [Int: Int] = [:]
            for number in 0..<70 { statuses[try await self.upload(mallory, "file \(number)").status, default: 0] += 1 }
            #expect(statuses == [204: 50, 429: 20])
            #expect(try await self.upload(victim, "mine").status == 204)
        }
    }

    @Test func slowUploadsOfManyAccountsDoNotStopOthers() async throws {
        try await RealServer.with { server in
            var slow: [UnfinishedRequest] = []
            for number in 0..<8 {
                let mallory = try await server.user("mallory\(number)", from: "198.51.\(number).1")
                for _ in 0..<4 {
                    let created = try await server.http.post(
                        "/api/uploads", "", mallory.fields.merging(["Tus-Resumable": "1.0.0", "Upload-Length": "1000000"]) { $1 })
                    let location = try #require(created.headers["location"])
                    var head = "PATCH \(location) HTTP/1.1\r\nHost: a\r\nContent-Length: 1000000\r\n"
                    head += "Tus-Resumable: 1.0.0\r\nUpload-Offset: 0\r\nContent-Type: application/offset+octet-stream\r\n"
                    for (name, value) in mallory.fields { head += "\(name): \(value)\r\n" }
                    slow.append(try await UnfinishedRequest(head + "\r\nslow", port: server.http.port))
                }
            }
            let victim = try await server.user("victim", from: "203.0.113.1")
            #expect(try await self.upload(victim, "mine").status == 204)
            for request in slow { await request.close() }
        }
    }

    @Test func twoHundredConnectionsDoNotStopSignIns() async throws {
        try await RealServer.with { server in
            _ = try await server.user("victim", from: "203.0.113.1")
            var open: [UnfinishedRequest] = []
            for _ in 0..<200 {
                open.append(
                    try await UnfinishedRequest(
                        "POST /api/login HTTP/1.1\r\nHost: a\r\nContent-Length: 100\r\n\r\n{", port: server.http.port))
            }
            #expect(try await server.login("victim", from: "203.0.113.1").status == 200)
            #expect(try await server.http.get("/health").status == 200)
            for request in open { await request.close() }
        }
    }

    // MARK: Reads

    /// Sends a request `times` times on each of several connections without waiting for answers,
    /// and then waits for all answers, for at most 60 seconds each.
    ///
    /// - Returns: The number of requests that were granted, and the refusals.
    /// - Throws: The error of a request without an answer.
    private func burst(
        _ verb: String, _ request: JSONValue, times: Int, on sockets: [RealSocket]
    ) async throws -> (answered: Int, refusals: [ChatError]) {
        let (answers, arrival) = AsyncStream.makeStream(of: Result<JSONValue, any Error>.self)
        for socket in sockets {
            for _ in 0..<times {
                socket.client.emitWithAck(verb, arguments: [request], timeout: .seconds(60)) { result in
                    arrival.yield(Result { try result.get().first ?? .null })
                }
            }
        }
        var (answered, refusals, count) = (0, [ChatError](), 0)
        for await result in answers {
            let answer = try result.get()
            if answer.objectValue?["error"] == nil { answered += 1 } else { refusals.append(try ChatError(json: answer)) }
            count += 1
            if count == times * sockets.count { break }
        }
        return (answered, refusals)
    }

    /// Bursts of `hello` and of reads on eight connections of one account. Each connection gets one
    /// answer to `hello`, the account has one budget, and each read of another user is answered.
    @Test func burstsOfReadsOfOneAccountLeaveOthersTheirs() async throws {
        try await RealServer.with { server in
            let mallory = try await server.user("mallory", from: "198.51.100.1")
            let victim = try await server.user("victim", from: "203.0.113.1")
            let there = try await victim.connect()
            let own = try await there.ask(ChatVerbs.sync, SyncRequest()).heads[0].conversation
            for number in 0..<40 { _ = try await mallory.ask(ChatVerbs.conversationCreate, Self.create(number, inviting: [])) }
            var attackers: [RealSocket] = []
            for _ in 0..<8 {
                let socket = RealSocket(server: server, token: mallory.session.access, address: mallory.address)
                try await socket.client.connect(timeout: .seconds(60))
                attackers.append(socket)
            }
            let sockets = attackers
            async let reads: Int = {
                var reads = 0
                for _ in 0..<40 {
                    let page = try await there.ask(ChatVerbs.history, HistoryRequest(conversation: own, range: .newest))
                    if page.conversation == own { reads += 1 }
                }
                return reads
            }()
            let hello = HelloRequest(device: HelloDevice(name: "Test", platform: "test"), sync: SyncRequest())
            let greetings = try await self.burst(ChatVerbs.hello.name, hello.json, times: 60, on: sockets)
            #expect(greetings.answered == 8 && greetings.refusals.count == 8 * 59)
            #expect(greetings.refusals.allSatisfy { $0.code == .badRequest })
            let syncs = try await self.burst(ChatVerbs.sync.name, SyncRequest().json, times: 60, on: sockets)
            #expect(syncs.answered + syncs.refusals.count == 480 && syncs.answered > 0)
            #expect(!syncs.refusals.isEmpty, "the budget of an account is smaller")
            #expect(syncs.refusals.allSatisfy { $0.code == .tooMany && $0.retryAfter ?? 0 > 0 })
            #expect(try await reads == 40)
            _ = try await there.ask(ChatVerbs.history, HistoryRequest(conversation: own, range: .newest))
            for socket in attackers { socket.close() }
            there.close()
        }
    }

    // MARK: Texts

    @Test(arguments: ["\u{202E}live", "a\u{200B}b", "\u{2066}x"]) func aDeceptiveTitleIsRefused(title: String) async throws {
        try await RealServer.with { server in
            let mallory = try await server.user("mallory", from: "198.51.100.1")
            let error = await refusal {
                _ = try await mallory.ask(ChatVerbs.conversationCreate, CreateRequest(id: id("c"), kind: .group, title: title, users: []))
            }
            #expect(error?.code == .badRequest)
        }
    }

    @Test func aRetryIsComparedByItsBytes() async throws {
        try await RealServer.with { server in
            let alice = try await server.user("alice", from: "203.0.113.1")
            let own = try await alice.ask(ChatVerbs.sync, SyncRequest()).heads[0].conversation
            func send(_ text: String) async throws -> SendAnswer {
                try await alice.ask(ChatVerbs.send, SendRequest(id: id("m"), conversation: own, kind: .text, body: ["text": .string(text)]))
            }
            let first = try await send("caf\u{E9}")
            #expect(try await send("caf\u{E9}") == first)
            #expect(await refusal { _ = try await send("cafe\u{301}") }?.code == .conflict)
        }
    }

    @Test func encryptedMessagesAreUnsupported() async throws {
        try await RealServer.with { server in
            let alice = try await server.user("alice", from: "203.0.113.1")
            let own = try await alice.ask(ChatVerbs.sync, SyncRequest()).heads[0].conversation
            let error = await refusal {
                _ = try await alice.ask(
                    ChatVerbs.send, SendRequest(id: id("m"), conversation: own, kind: .encrypted, body: ["data": "AAAA"]))
            }
            #expect(error?.code == .unsupported)
            #expect(
                try await alice.ask(ChatVerbs.history, HistoryRequest(conversation: own, range: .newest)).events.allSatisfy { $0.n == nil })
        }
    }

    @Test func aClientWithATooSmallAnswerLimitIsRefused() async throws {
        try await RealServer.with({ $0.uploadBytes = 12_345_678 }) { server in
            let alice = try await server.user("alice", from: "203.0.113.1")
            let socket = RealSocket(server: server, token: alice.session.access, address: alice.address)
            try await socket.client.connect(timeout: .seconds(60))
            var hello = HelloRequest(frameBytes: Int64(ChatLimits.answerBytes) - 1, device: HelloDevice(name: "Test", platform: "test"))
            #expect(await refusal { _ = try await socket.ask(ChatVerbs.hello, hello) }?.code == .unsupported)
            hello.frameBytes = Int64(ChatLimits.answerBytes)
            let answer = try await socket.ask(ChatVerbs.hello, hello)
            #expect(answer.limits.blobBytes == 12_345_678)
            socket.close()
        }
    }

    // MARK: Files

    @Test func aPictureThatKeepsItsMetadataIsADownload() async throws {
        try await RealServer.with { server in
            let mallory = try await server.user("mallory", from: "198.51.100.1")
            let heic = "\u{0}\u{0}\u{0}\u{18}ftypheic\u{0}\u{0}\u{0}\u{0}mif1heicExif GPS"
            let answer = try await self.upload(mallory, heic)
            #expect(answer.status == 204)
            let blob = try #require(answer.headers["chat-blob"])
            let file = try await server.http.get("/api/blobs/" + blob, mallory.fields)
            #expect(file.headers["content-type"] == "application/octet-stream")
            #expect(file.headers["content-disposition"]?.hasPrefix("attachment") == true)
        }
    }
}

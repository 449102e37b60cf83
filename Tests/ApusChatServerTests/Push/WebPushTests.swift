import ApusChatProtocol
import ApusChatService
import ApusJSON
import Foundation
import NIOConcurrencyHelpers
import NIOHTTP1
import Testing

@testable import ApusChatServer
@testable import ApusWebPush

/// Notifications from a message to the push service of a browser.
@Suite(.timeLimit(.minutes(5))) struct WebPushTests {
    private struct User {
        var server: RunningServer
        var access: String

        init(_ server: RunningServer, _ name: String) async throws {
            let body =
                #"{"name":"\#(name)","nick":"\#(name.capitalized)","password":"correct horse battery","#
                + #""device":{"name":"T","platform":"web"}}"#
            self.server = server
            self.access = try SessionAnswer(json: try await server.http.post("/api/register", body).json()).access
        }

        @discardableResult
        func ask(_ verb: String, _ body: String, status: Int = 200) async throws -> JSONValue {
            let answer = try await self.server.http.post("/api/chat/" + verb, body, ["Authorization": "Bearer " + self.access])
            #expect(answer.status == status, "\(verb): \(answer.body)")
            return try answer.json()
        }

        func open(_ name: String) async throws -> String {
            try await self.ask("conversation.open", #"{"id":"open-\#(name)","user":"\#(name)"}"#)["head"]?["conv"]?.stringValue ?? ""
        }

        func send(_ text: String, to conversation: String, _ id: String, extra: String = "") async throws {
            try await self.ask("send", #"{"conv":"\#(conversation)","id":"\#(id)","kind":"text","body":{"text":"\#(text)"}\#(extra)}"#)
        }
    }

    /// A server that decides about notifications when the test calls ``decide()``.
    private struct Host {
        var server: RunningServer
        var chat: ServiceChat
        var lines: LogLines

        /// Decides about the notifications of all messages whose requests were answered.
        func decide() async throws {
            // The notifier receives a batch on the loop of the log, possibly after the answers.
            try await self.chat.service.log.withStorage { _ in }
            await self.chat.service.notifier.decideNow()
        }
    }

    /// An app of the legacy protocol that uses polling.
    private struct OldApp {
        let http: RawHTTP
        private let path: String

        init(_ server: RunningServer, _ name: String) async throws {
            self.http = server.legacy
            let login = try await self.http.post(
                "/mobileLogin", #"{"userName":"\#(name)","password":"correct horse battery"}"#, ["Content-Type": "application/json"])
            let token = try #require(try login.json()["data"]?["auth_token"]?.stringValue)
            let query = "/socket.io/?EIO=3&transport=polling&auth_token=" + token
            let open = try await self.http.get(query)
            let id = try #require(open.body.split(separator: "\"sid\":\"").dropFirst().first?.split(separator: "\"").first)
            self.path = query + "&sid=" + id
        }

        /// Polls until a message has this text, at most 50 times, and returns the id of the
        /// acknowledgement that its event `chat` requests. Throws `notFound` afterwards.
        func receive(_ text: String) async throws -> String {
            for _ in 0..<50 {
                let body = try await self.http.get(self.path).body
                guard body.contains(text), let event = body.split(separator: "[\"chat\"").first?.split(separator: ":").last else {
                    continue
                }
                return String(event.dropFirst(2))
            }
            throw ChatError(.notFound, message: "The app has not received \(text).")
        }

        func acknowledge(_ id: String) async throws {
            let packet = "43\(id)[\"hello\"]"
            let answer = try await self.http.post(self.path, "\(packet.utf8.count):\(packet)", ["Content-Type": "text/plain;charset=UTF-8"])
            #expect(answer.status == 200)
        }
    }

    private func with(
        _ service: PushService, permits: Bool = true, hasOldApps: Bool = false, _ body: (Host) async throws -> Void
    ) async throws {
        let lines = LogLines()
        let made = NIOLockedValueBox<ServiceChat?>(nil)
        try await RunningServer.with(
            {
                $0.environment.outgoingAuthorities = service.authority
                $0.pushContact = "mailto:operator@example.org"
                $0.environment.noticeDelay = .seconds(86_400)
                if hasOldApps { ($0.legacyPort, $0.directory) = (0, .open) }
                if permits { $0.environment.outgoingNetworks = ["127.0.0.0/8", "::1"] }
            }, logger: lines.logger,
            makeChat: {
                let chat = try ServiceChat($0, $1, $2)
                made.withLockedValue { $0 = chat }
                return chat
            }
        ) { server in
            let chat = try #require(made.withLockedValue { $0 })
            try await body(Host(server: server, chat: chat, lines: lines))
        }
        try await service.close()
    }

    @Test func aMessageIsPushedAndTheBrowserDecryptsIt() async throws {
        let service = try await PushService(statuses: [503])
        try await self.with(service) { host in
            let server = host.server
            let (alice, bob) = (try await User(server, "alice"), try await User(server, "bobby"))
            try await bob.ask("push.set", try service.subscription())
            let conversation = try await alice.open("bobby")
            try await alice.send("the swifts are back 在吗", to: conversation, "m1")
            try await host.decide()
            // The first attempt is answered 503 and repeated.
            let first = try await service.next()
            let request = try await service.next()
            #expect(first.path == "/push/1" && request.path == "/push/1")
            #expect(first.body != request.body)
            #expect(request.headers.first(name: "Content-Encoding") == "aes128gcm")
            #expect(request.headers.first(name: "Topic") == conversation)
            #expect(request.headers.first(name: "Urgency") == "normal")
            #expect((80_000...86_400).contains(request.headers.first(name: "TTL").flatMap { Int($0) } ?? 0))
            let key = try #require(try await server.http.get("/api/server").json()["push_key"]?.stringValue)
            #expect(request.headers.first(name: "Authorization")?.hasSuffix("k=" + key) == true)
            let message = try service.decrypt(request.body)
            #expect(message["conv"]?.stringValue == conversation)
            #expect(message["title"]?.stringValue == "Alice")
            #expect(message["body"]?.stringValue == "the swifts are back 在吗")
            #expect(message["badge"]?.intValue == 1)
            #expect(message["n"]?.intValue == 1)
        }
    }

    /// A client can build the body in its language, and with the alias of the sender.
    @Test func theBodyOfAPushCanBeBuiltByTheClient() async throws {
        let service = try await PushService()
        try await self.with(service) { host in
            let (alice, bob) = (try await User(host.server, "alice"), try await User(host.server, "bobby"))
            try await bob.ask("push.set", try service.subscription())
            let pair = try await alice.open("bobby")
            try await alice.ask(
                "send", #"{"conv":"\#(pair)","id":"m1","kind":"location","body":{"latitude":1.5,"longitude":2.5}}"#)
            try await host.decide()
            let place = try service.decrypt(try await service.next().body)
            #expect(place["body"]?.stringValue == "Location" && place["no_text"]?.boolValue == true && place["nick"] == nil)
            #expect(place["kind"]?.stringValue == "location" && place["sender"]?.stringValue == "alice")
            let group = try await alice.ask(
                "conversation.create",
                #"{"id":"g","kind":"group","title":"Crew","users":[],"settings":{"join":"open","listed":true}}"#)["head"]?["conv"]?
                .stringValue
            let conv = try #require(group)
            try await bob.ask("member.join", #"{"id":"j","conv":"\#(conv)"}"#)
            try await alice.send("to the lake: now", to: conv, "m2")
            try await host.decide()
            let text = try service.decrypt(try await service.next().body)
            #expect(text["title"]?.stringValue == "Crew" && text["nick"]?.stringValue == "Alice" && text["no_text"] == nil)
            #expect(text["body"]?.stringValue == "Alice: to the lake: now")
        }
    }

    /// A message is pushed unless a connected app acknowledges it.
    @Test func aMessageThatAnAppDoesNotAnswerIsPushed() async throws {
        let service = try await PushService()
        try await self.with(service, hasOldApps: true) { host in
            let (alice, bob) = (try await User(host.server, "alice"), try await User(host.server, "bobby"))
            try await bob.ask("push.set", try service.subscription())
            let pair = try await alice.open("bobby")
            let app = try await OldApp(host.server, "bobby")
            try await alice.send("answered", to: pair, "m1")
            try await app.acknowledge(try await app.receive("answered"))
            var read = 0
            for _ in 0..<2_000 where read == 0 {
                let heads = try await bob.ask("sync", "{}")["heads"]?.arrayValue ?? []
                read = heads.first { $0["conv"]?.stringValue == pair }?["read"]?.intValue ?? 0
                await Task.yield()
            }
            #expect(read == 1)
            try await host.decide()
            try await alice.send("not answered", to: pair, "m2")
            _ = try await app.receive("not answered")
            try await host.decide()
            let message = try service.decrypt(try await service.next().body)
            #expect(message["body"]?.stringValue == "not answered" && message["badge"]?.intValue == 1)
        }
    }

    @Test func silentMutedReadAndBlockedMessagesAreNotPushed() async throws {
        let service = try await PushService()
        try await self.with(service) { host in
            let (alice, bob) = (try await User(host.server, "alice"), try await User(host.server, "bobby"))
            let carol = try await User(host.server, "carol")
            try await bob.ask("push.set", try service.subscription())
            let (pair, other) = (try await alice.open("bobby"), try await carol.open("bobby"))
            // A message that the user has read, and a silent one.
            try await alice.send("read at once", to: pair, "m1")
            try await bob.ask("mark", #"{"conv":"\#(pair)","read":1}"#)
            try await host.decide()
            try await alice.send("silent", to: pair, "m0", extra: #","silent":true"#)
            try await host.decide()
            // A message of a blocked user.
            try await bob.ask("block", #"{"id":"block","user":"carol"}"#)
            try await carol.send("of a blocked user", to: other, "m2")
            try await host.decide()
            // A message of a muted conversation, and one after the end of the muting.
            try await bob.ask("own.set", #"{"id":"mute","conv":"\#(pair)","muted_until":9000000000000}"#)
            try await alice.send("muted", to: pair, "m3")
            try await host.decide()
            try await bob.ask("own.set", #"{"id":"unmute","conv":"\#(pair)","muted_until":0}"#)
            try await alice.send("told", to: pair, "m4")
            try await host.decide()
            let message = try service.decrypt(try await service.next().body)
            #expect(message["body"]?.stringValue == "told")
        }
    }

    @Test func anEndedSubscriptionIsRemoved() async throws {
        let service = try await PushService(statuses: [410])
        try await self.with(service) { host in
            let (alice, bob) = (try await User(host.server, "alice"), try await User(host.server, "bobby"))
            try await bob.ask("push.set", try service.subscription(path: "/old"))
            let conversation = try await alice.open("bobby")
            try await alice.send("one", to: conversation, "m1")
            try await host.decide()
            #expect(try await service.next().path == "/old")
            try await host.lines.next("A subscription was removed")
            try await alice.send("two", to: conversation, "m2")
            try await host.decide()
            try await bob.ask("push.set", try service.subscription(path: "/new"))
            try await alice.send("three", to: conversation, "m3")
            try await host.decide()
            #expect(try await service.next().path == "/new")
            #expect(service.requestedPaths == ["/old", "/new"])
        }
    }

    /// The server opens no connection to a private address, given as a name or as a number.
    @Test(arguments: ["localhost", "127.0.0.1", "[::1]", "[::ffff:127.0.0.1]", "169.254.169.254", "10.0.0.1", "2130706433", "0x7f.1"])
    func aPrivateAddressIsNotRequested(host: String) async throws {
        let service = try await PushService()
        try await self.with(service, permits: false) { on in
            let (alice, bob) = (try await User(on.server, "alice"), try await User(on.server, "bobby"))
            try await bob.ask("push.set", try service.subscription(path: "/private", host: host))
            let conversation = try await alice.open("bobby")
            try await alice.send("one", to: conversation, "m1")
            try await on.decide()
            try await on.lines.next("A notification could not be sent", error: "has no address to which this server may connect")
            #expect(service.requestedPaths.isEmpty)
        }
    }

    @Test(
        arguments: [
            (#"{"id":"a","kind":"web","data":{"endpoint":"http://push.example.org/1"}}"#, 400),
            (#"{"id":"a","kind":"web"}"#, 400), (#"{"id":"a","kind":"apns","data":{}}"#, 404), (#"{"id":"a","kind":"none"}"#, 200),
        ])
    func onlyUsableSubscriptionsAreStored(body: String, status: Int) async throws {
        let service = try await PushService()
        try await self.with(service) { host in
            let alice = try await User(host.server, "alice")
            let answer = try await host.server.http.post("/api/chat/push.set", body, ["Authorization": "Bearer " + alice.access])
            #expect((answer.status == 200) == (status == 200), "\(answer.body)")
        }
    }
}

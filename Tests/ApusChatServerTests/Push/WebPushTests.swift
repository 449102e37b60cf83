import ApusChatProtocol
import ApusJSON
import Foundation
import NIOHTTP1
import Testing

@testable import ApusChatServer
@testable import ApusWebPush

/// Notifications from a message to the push service of a browser.
@Suite struct WebPushTests {
    private struct User {
        var server: RunningServer
        var access: String

        init(_ server: RunningServer, _ name: String) async throws {
            let body =
                #"{"name":"\#(name)","nick":"\#(name.capitalized)","password":"correct horse battery","device":{"name":"T","platform":"web"}}"#
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

    private func with(
        _ service: PushService, permits: Bool = true, _ body: (RunningServer) async throws -> Void
    ) async throws {
        try await RunningServer.with {
            $0.outgoingAuthorities = service.authority
            $0.pushContact = "mailto:operator@example.org"
            if permits { $0.outgoingNetworks = ["127.0.0.0/8", "::1"] }
        } makeChat: {
            try ServiceChat($0, $1, $2)
        } _: {
            try await body($0)
        }
        try await service.close()
    }

    @Test func aMessageIsPushedAndTheBrowserDecryptsIt() async throws {
        let service = try await PushService(statuses: [503])
        try await self.with(service) { server in
            let (alice, bob) = (try await User(server, "alice"), try await User(server, "bobby"))
            try await bob.ask("push.set", try service.subscription())
            let conversation = try await alice.open("bobby")
            try await alice.send("the swifts are back 在吗", to: conversation, "m1")
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

    @Test func whatIsSilentMutedReadOrOfABlockedUserIsNotPushed() async throws {
        let service = try await PushService()
        try await self.with(service) { server in
            let (alice, bob) = (try await User(server, "alice"), try await User(server, "bobby"))
            let carol = try await User(server, "carol")
            try await bob.ask("push.set", try service.subscription())
            let (pair, other) = (try await alice.open("bobby"), try await carol.open("bobby"))
            // Read at once.
            try await alice.send("read at once", to: pair, "m1")
            try await bob.ask("mark", #"{"conv":"\#(pair)","read":1}"#)
            try await alice.send("silent", to: pair, "m0", extra: #","silent":true"#)
            // Of a blocked user.
            try await bob.ask("block", #"{"id":"block","user":"carol"}"#)
            try await carol.send("of a blocked user", to: other, "m2")
            // Muted, and then no longer.
            try await bob.ask("own.set", #"{"id":"mute","conv":"\#(pair)","muted_until":9000000000000}"#)
            try await alice.send("muted", to: pair, "m3")
            try await Task.sleep(for: .seconds(2))
            try await bob.ask("own.set", #"{"id":"unmute","conv":"\#(pair)","muted_until":0}"#)
            try await alice.send("told", to: pair, "m4")
            let message = try service.decrypt(try await service.next().body)
            #expect(message["body"]?.stringValue == "told")
        }
    }

    @Test func aSubscriptionThatIsGoneIsForgotten() async throws {
        let service = try await PushService(statuses: [410])
        try await self.with(service) { server in
            let (alice, bob) = (try await User(server, "alice"), try await User(server, "bobby"))
            try await bob.ask("push.set", try service.subscription(path: "/old"))
            let conversation = try await alice.open("bobby")
            try await alice.send("one", to: conversation, "m1")
            #expect(try await service.next().path == "/old")
            try await Task.sleep(for: .milliseconds(500))
            try await alice.send("two", to: conversation, "m2")
            try await Task.sleep(for: .seconds(2))
            try await bob.ask("push.set", try service.subscription(path: "/new"))
            try await alice.send("three", to: conversation, "m3")
            #expect(try await service.next().path == "/new")
        }
    }

    /// Addresses that are private reach no connection, by name and by number.
    @Test(arguments: ["localhost", "127.0.0.1", "[::1]", "[::ffff:127.0.0.1]", "169.254.169.254", "10.0.0.1", "2130706433", "0x7f.1"])
    func aPrivateAddressIsNotRequested(host: String) async throws {
        let service = try await PushService()
        try await self.with(service, permits: false) { server in
            let (alice, bob) = (try await User(server, "alice"), try await User(server, "bobby"))
            try await bob.ask("push.set", try service.subscription(path: "/private", host: host))
            let conversation = try await alice.open("bobby")
            try await alice.send("one", to: conversation, "m1")
            let asked = await Self.isRequested(service, within: .seconds(3))
            #expect(!asked)
        }
    }

    private static func isRequested(_ service: PushService, within time: Duration) async -> Bool {
        await withTaskGroup(of: Bool.self) { group in
            group.addTask { (try? await service.next()) != nil }
            group.addTask {
                try? await Task.sleep(for: time)
                return false
            }
            let first = await group.next() ?? false
            group.cancelAll()
            return first
        }
    }

    @Test(
        arguments: [
            (#"{"id":"a","kind":"web","data":{"endpoint":"http://push.example.org/1"}}"#, 400),
            (#"{"id":"a","kind":"web"}"#, 400), (#"{"id":"a","kind":"apns","data":{}}"#, 404), (#"{"id":"a","kind":"none"}"#, 200),
        ])
    func onlyWhatCanBeUsedIsStored(body: String, status: Int) async throws {
        let service = try await PushService()
        try await self.with(service) { server in
            let alice = try await User(server, "alice")
            let answer = try await server.http.post("/api/chat/push.set", body, ["Authorization": "Bearer " + alice.access])
            #expect((answer.status == 200) == (status == 200), "\(answer.body)")
        }
    }
}

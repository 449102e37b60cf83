import ApusChatProtocol
import ApusJSON
import NIOHTTP1
import Testing

@testable import ApusChatServer

/// Previews from a message to the log.
@Suite(.timeLimit(.minutes(5))) struct LinkPreviewTests {
    /// The conversation of a user with oneself.
    private struct Notes {
        let server: RunningServer
        let access: String
        let conversation: String
        /// Yields for each event of the kind `preview` that the server pushes.
        private let previews: AsyncStream<Void>
        private let socket: RealSocket

        init(_ server: RunningServer) async throws {
            self.server = server
            self.access = try SessionAnswer(json: try await server.http.post("/api/register", RunningServer.registration).json()).access
            let sync = try await Self.ask(server, self.access, "sync", "{}")
            self.conversation = try #require(sync["heads"]?.arrayValue?.first?["conv"]?.stringValue)
            let (previews, continuation) = AsyncStream.makeStream(of: Void.self)
            self.previews = previews
            self.socket = RealSocket(server: RealServer(running: server), token: self.access, address: "127.0.0.1") { name, payload in
                guard name == "event", let events = payload["events"]?.arrayValue else { return }
                for event in events where event["kind"]?.stringValue == "preview" { continuation.yield() }
            }
            try await self.socket.open()
        }

        private static func ask(
            _ server: RunningServer, _ access: String, _ verb: String, _ body: String, status: Int = 200
        ) async throws -> JSONValue {
            let answer = try await server.http.post("/api/chat/" + verb, body, ["Authorization": "Bearer " + access])
            #expect(answer.status == status, "\(verb): \(answer.body)")
            return try answer.json()
        }

        @discardableResult
        func ask(_ verb: String, _ fields: JSONObject, status: Int = 200) async throws -> JSONValue {
            var body = fields
            body["conv"] = .string(self.conversation)
            return try await Self.ask(self.server, self.access, verb, try JSONValue.object(body).jsonString(), status: status)
        }

        func send(_ id: String, _ text: String, extra: JSONObject = [:]) async throws -> Int64 {
            var body = extra
            body["text"] = .string(text)
            return try await self.ask("send", ["id": .string(id), "kind": "text", "body": .object(body)])["seq"]?.intValue.map { Int64($0) }
                ?? 0
        }

        func log() async throws -> [ChatEvent] {
            try HistoryAnswer(json: try await self.ask("history", ["from": 1, "limit": 50])).events
        }

        /// Waits for the next event of the kind `preview`, without a time limit, and returns the
        /// first 50 events of the log.
        func logWithNextPreview() async throws -> [ChatEvent] {
            for await _ in self.previews { break }
            return try await self.log()
        }

        func close() { self.socket.close() }
    }

    private func with(_ host: PageHost, isOn: Bool = true, _ body: (Notes) async throws -> Void) async throws {
        try await RunningServer.with {
            $0.previewsLinks = isOn
            $0.environment.outgoingNetworks = ["127.0.0.1"]
            $0.environment.pageTimeouts = (.seconds(600), .seconds(600))
        } makeChat: {
            try ServiceChat($0, $1, $2)
        } _: {
            let notes = try await Notes($0)
            try await body(notes)
            notes.close()
        }
        try await host.close()
    }

    @Test func aTextGetsThePreviewOfItsFirstLink() async throws {
        let host = try await PageHost([
            "/a": .html(
                """
                <title>Plain</title><meta property="og:title" content="&lt;img src=x onerror=alert(1)&gt; Swifts">
                <meta property="og:description" content="In the air"><meta property="og:site_name" content="Apus">
                <meta property="og:image" content="/picture.png">
                """), "/b": .html("<title>Other</title>"),
        ])
        try await self.with(host) { notes in
            let text = "see \(host.url("/a#part")), and \(host.url("/b"))."
            let seq = try await notes.send("m1", text)
            let log = try await notes.logWithNextPreview()
            let message = try #require(log.first { $0.seq == seq })
            guard case .text(let body)? = ChatBody(message) else { throw ChatError(.internal, message: "no text") }
            #expect(body.text == text && message.state == .normal && message.editedAt == nil)
            #expect(
                body.preview
                    == LinkPreview(url: host.url("/a#part"), title: "<img src=x onerror=alert(1)> Swifts", text: "In the air", site: "Apus")
            )
            let change = try #require(log.last)
            #expect(change.kind == .preview && change.ref == seq && change.n == nil && change.sender?.rawValue == "alice")
            #expect(ChatChange(change) == .preview(PreviewBody(preview: body.preview)))
            #expect(host.requests.map(\.uri) == ["/a"], "neither the second link nor the picture is requested")
            // The sender removes the preview.
            try await notes.ask("preview.remove", ["id": "p1", "ref": .integer(seq)])
            let without = try #require(try await notes.logWithNextPreview().first { $0.seq == seq })
            #expect(without.body["preview"] == nil && without.body["text"] == .string(text) && without.state == .normal)
            #expect(try await notes.log().last.map { ChatChange($0) } == .preview(PreviewBody()))
            // An edit replaces the preview. A recall clears the message and its changes.
            try await notes.ask("edit", ["id": "e1", "ref": .integer(seq), "body": ["text": .string(host.url("/b"))]])
            let edited = try #require(try await notes.logWithNextPreview().first { $0.seq == seq })
            #expect(edited.body["preview"]?["title"]?.stringValue == "Other")
            try await notes.ask("recall", ["id": "r1", "ref": .integer(seq)])
            let blank = try await notes.log().filter { $0.seq == seq || $0.kind == .preview }
            #expect(blank.count == 4 && blank.allSatisfy { $0.body.isEmpty && $0.state == .recalled })
        }
    }

    @Test func anEditWithoutTheLinkHasNoPreview() async throws {
        let host = try await PageHost(["/a": .html("<title>A</title>")])
        try await self.with(host) { notes in
            let seq = try await notes.send("m1", host.url("/a"))
            _ = try await notes.logWithNextPreview()
            try await notes.ask("edit", ["id": "e1", "ref": .integer(seq), "body": ["text": "nothing"]])
            #expect(try await notes.log().first { $0.seq == seq }?.body == ["text": "nothing"])
        }
    }

    @Test func aPreviewOfAClientIsNotStored() async throws {
        let host = try await PageHost(["/a": .html("<title>True</title>")])
        try await self.with(host) { notes in
            let forged: JSONObject = ["preview": ["url": "https://bank.example/", "title": "Sign in"]]
            let seq = try await notes.send("m1", "no link", extra: forged)
            #expect(try await notes.log().first { $0.seq == seq }?.body == ["text": "no link"])
            for kind in ["preview", "edit"] {
                try await notes.ask("send", ["id": .string(kind), "kind": .string(kind), "ref": 1, "body": .object(forged)], status: 501)
            }
            try await notes.ask("preview", ["id": "p", "ref": .integer(seq), "body": .object(forged)], status: 501)
            let second = try await notes.send("m2", host.url("/a"), extra: forged)
            let log = try await notes.logWithNextPreview()
            #expect(log.first { $0.seq == second }?.body["preview"]?["title"]?.stringValue == "True")
            #expect(log.count(where: { $0.kind == .preview }) == 1)
        }
    }

    @Test func withoutTheOptionNothingIsRequested() async throws {
        let host = try await PageHost(["/a": .html("<title>A</title>")])
        try await self.with(host, isOn: false) { notes in
            _ = try await notes.send("m1", host.url("/a"))
            #expect(try await notes.log().last?.kind == .text)
            #expect(host.requests.isEmpty)
        }
        #expect(ChatServerConfiguration().previewsLinks == false)
    }
}

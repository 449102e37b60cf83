import ApusChatProtocol
import ApusChatTerminal
import ApusJSON
import Foundation
import Testing

@testable import ApusChatClient

/// Polls, files and refused messages: the properties of a command, and what is sent.
@MainActor @Suite("Messages of commands", .timeLimit(.minutes(5)))
struct ChatCommanderWriteTests {
    /// Performs a line and returns the fields of the message that it sends.
    private func sent(_ line: String, _ fixture: CommandFixture) async throws -> JSONValue? {
        let before = fixture.server.count(of: "send")
        await fixture.perform(line)
        #expect(fixture.host.said.isEmpty, "\(line): \(fixture.host.said.map(\.text))")
        try await eventually { fixture.server.count(of: "send") > before }
        return fixture.request("send")
    }

    // MARK: Polls

    @Test(
        arguments: [
            ("/poll --anonymous --several Q|A|B", ["multiple": true, "anonymous": true]),
            ("/poll* --anonymous  Q|A|B", ["multiple": true, "anonymous": true]), ("/poll * Q|A|B", ["multiple": true]),
            ("/poll --until 2026-12-24T18:00 --several Q|A|B", ["multiple": true, "closes_at": 1_798_135_200_000]),
            ("/poll --several --several Q|A|B", ["multiple": true]), ("/poll || Q || A | B |", [:]),
        ] as [(String, JSONObject)])
    func thePropertiesOfAPollHaveAnyOrder(line: String, properties: JSONObject) async throws {
        try await CommandFixture.with { fixture in
            let fields = try await self.sent(line, fixture)?["body"]?.objectValue
            #expect(fields == properties.adding(["question": "Q", "options": ["A", "B"]]))
        }
    }

    @Test(
        arguments: [
            ("/poll --several", "/poll QUESTION | A | B: at least two options are required"),
            ("/poll --until", "/poll QUESTION | A | B: \"\" is not a time"),
            ("/poll --until --several Q|A|B", "/poll QUESTION | A | B: \"--several\" is not a time"),
            ("/poll --Several Q|A|B", "/poll QUESTION | A | B: --Several is not --several, --anonymous or --until"),
            ("/poll -- Q|A|B", "/poll QUESTION | A | B: -- is not --several"), ("/poll | | |", "/poll QUESTION | A | B: at least two"),
            ("/poll Q | A | A", "must not repeat an option"),
        ] as [(String, String)])
    func aWrongPollIsNotSent(line: String, words: String) async throws {
        try await CommandFixture.with { fixture in
            await fixture.perform(line)
            let told = fixture.told()
            #expect(told.count == 1 && told.first?.contains(words) == true, "\(told)")
            #expect(fixture.server.count(of: "send") == 0)
        }
    }

    @Test(arguments: [ChatLimits.pollOptions, ChatLimits.pollOptions + 1]) func aPollHasABoundedNumberOfOptions(count: Int) async throws {
        try await CommandFixture.with { fixture in
            let line = "/poll Q | " + (1...count).map { "option \($0)" }.joined(separator: " | ")
            if count <= ChatLimits.pollOptions {
                let request = try await self.sent(line, fixture)
                #expect(request?["body"]?["options"]?.arrayValue?.count == count)
            } else {
                await fixture.perform(line)
                #expect(fixture.host.said.map(\.style) == [.warning] && fixture.server.count(of: "send") == 0)
            }
        }
    }

    // MARK: Files

    /// Runs `body` with the path of a file whose name has a space, and of one whose name has none.
    private func withFiles(_ body: (CommandFixture, _ spaced: String, _ plain: String) async throws -> Void) async throws {
        try await CommandFixture.with { fixture in
            let folder = fixture.device.folder
            for name in ["/two words.txt", "/plain.png"] { try Data([1, 2, 3]).write(to: URL(fileURLWithPath: folder + name)) }
            try await body(fixture, folder + "/two words.txt", folder + "/plain.png")
        }
    }

    private func file(_ line: String, _ fixture: CommandFixture) async throws -> JSONObject {
        let request = try await self.sent(line, fixture)
        var body = try #require(request?["body"]?.objectValue)
        #expect(body["size"] == 3)
        for field in ["blob", "size", "width", "height"] { body[field] = nil }
        body["kind"] = request?["kind"]
        body["thread"] = request?["thread"]
        return body
    }

    @Test func aPathEndsAtASpaceUnlessItIsQuotedOrAFile() async throws {
        try await self.withFiles { fixture, spaced, plain in
            let text: JSONObject = ["kind": "file", "name": "two words.txt", "type": "text/plain"]
            let image: JSONObject = ["kind": "image", "name": "plain.png", "type": "image/png"]
            let cases: [(String, JSONObject)] = [
                ("/file \(spaced)", text), ("/file \"\(spaced)\"", text), ("/file \"\(plain)\"", image),
                ("/file \"\(spaced)\"   so  big", text.adding(["text": "so  big"])),
                ("/image \(plain) so  big", image.adding(["text": "so  big"])),
            ]
            for (line, expected) in cases {
                let body = try await self.file(line, fixture)
                #expect(body == expected, "\(line)")
            }
        }
    }

    /// A caption has formats, and belongs to the open thread.
    @Test func aCaptionIsMarkdownInTheOpenThread() async throws {
        try await self.withFiles { fixture, _, plain in
            fixture.host.openThread = 1
            let body = try await self.file("/file \(plain) **so** big @bob", fixture)
            #expect(body["text"] == "so big @bob" && body["thread"] == 1)
            let formats = body["entities"]?.arrayValue?.map { $0["type"] }
            #expect(formats == ["bold", "mention"])
        }
    }

    @Test func aFileThatCannotBeSentIsReported() async throws {
        try await self.withFiles { fixture, spaced, _ in
            let folder = fixture.device.folder
            try Data().write(to: URL(fileURLWithPath: folder + "/empty"))
            for (argument, path) in [
                (folder + "/none", folder + "/none"), (folder, folder), (folder + "/empty", folder + "/empty"),
                ("\"\(spaced)", "\"" + spaced.prefix { $0 != " " }), ("\"\" caption", ""),
            ] {
                await fixture.perform("/file \(argument)")
                #expect(fixture.told() == ["the file \(path) is empty, is not a regular file, or cannot be read"], "\(argument)")
            }
            #expect(fixture.server.count(of: "send") == 0)
            #expect(try await fixture.client.conversation(fixture.group).unsent.isEmpty)
        }
    }

    /// A file without a name is saved under the name of its kind.
    @Test(
        arguments: [
            (EventKind.image, ["width": 2, "height": 3, "type": "image/png"], "picture"),
            (.audio, ["duration": 5, "type": "audio/ogg"], "recording"),
            (.video, ["width": 2, "height": 3, "duration": 5, "type": "video/mp4"], "film"),
            (.image, ["width": 2, "height": 3, "type": "image/png", "name": "../~a.png"], "a.png"),
        ] as [(EventKind, JSONObject, String)])
    func aFileIsOpenedUnderItsName(kind: EventKind, fields: JSONObject, name: String) async throws {
        try await CommandFixture.with { fixture in
            let blob: JSONObject = ["blob": .string(String(repeating: "0f", count: 32)), "size": 3]
            fixture.host.shownRows[0].event.kind = kind
            fixture.host.shownRows[0].event.body = blob.adding(fields)
            await fixture.perform("/view")
            let path = try #require(fixture.host.openedFiles.first)
            #expect(path.hasSuffix("/" + name) && FileManager.default.contents(atPath: path) == Data([1, 2, 3]))
            let folder = URL(fileURLWithPath: path).deletingLastPathComponent().path
            let permissions = try FileManager.default.attributesOfItem(atPath: folder)[.posixPermissions] as? NSNumber
            #expect(permissions?.intValue == 0o700)
            try FileManager.default.removeItem(atPath: folder)
        }
    }

    // MARK: Refused messages

    private func refuse(_ texts: [String], _ fixture: CommandFixture) async throws {
        for text in texts {
            fixture.server.fail("send", with: ChatError(.forbidden, message: "Not you."))
            await fixture.perform(text)
        }
        try await eventually {
            try await fixture.client.conversation(fixture.group).unsent.count { row in
                if case .failed = row.delivery { true } else { false }
            } == texts.count
        }
    }

    @Test func allRefusedMessagesAreSentAgainInTheirOrder() async throws {
        try await CommandFixture.with { fixture in
            try await self.refuse(["one", "two"], fixture)
            let ids = Set(fixture.server.requests(of: "send").compactMap { $0["id"]?.stringValue })
            await fixture.perform("/retry")
            try await eventually { fixture.server.texts(in: fixture.group, as: Value.bob).suffix(2) == ["one", "two"] }
            let again = fixture.server.requests(of: "send").suffix(2).compactMap { $0["id"]?.stringValue }
            #expect(ids.count == 2 && ids.isDisjoint(with: again), "a refusal is repeated for the same id")
            #expect(fixture.told().isEmpty)
        }
    }

    @Test func discardedMessagesAreNotSentAgain() async throws {
        try await CommandFixture.with { fixture in
            try await self.refuse(["one", "two"], fixture)
            await fixture.perform("/discard")
            #expect(try await fixture.client.conversation(fixture.group).unsent.isEmpty)
            await fixture.perform("/retry")
            #expect(fixture.told().isEmpty && fixture.server.count(of: "send") == 2)
        }
    }

    /// A message that waits for the connection was not refused.
    @Test func waitingMessagesAreNeitherDiscardedNorRepeated() async throws {
        try await CommandFixture.with { fixture in
            fixture.server.setReachable(false)
            fixture.server.disconnectAll()
            try await eventually { await fixture.client.state == .connecting }
            await fixture.perform("waiting")
            for line in ["/retry", "/discard"] { await fixture.perform(line) }
            #expect(try await fixture.client.conversation(fixture.group).unsent.map(\.text) == ["waiting"])
            #expect(fixture.server.count(of: "send") == 0)
        }
    }
}

extension JSONObject {
    fileprivate func adding(_ others: JSONObject) -> JSONObject {
        var object = self
        for (name, value) in others { object[name] = value }
        return object
    }
}

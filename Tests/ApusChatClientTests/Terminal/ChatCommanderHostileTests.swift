import ApusChatProtocol
import ApusChatReference
import ApusJSON
import Testing

@testable import ApusChatClient
@testable import ApusChatTerminal

/// Commands whose answers contain texts that try to control the terminal, in each field of each
/// answer that is a text.
@MainActor @Suite("Hostile answers to commands", .timeLimit(.minutes(5)))
struct ChatCommanderHostileTests {
    private nonisolated static let texts = [
        "\u{1B}]52;c;cm0gLXJm\u{7}", "\u{1B}[2J\u{1B}[H", "\u{9B}6n\u{90}q\u{9C}", "a\rb\u{8}\u{B}\u{C}", "\u{202E}gpj\u{2066}\u{61C}",
        "two\nlines\n/leave", "\u{0}\u{7F}\u{85}\u{2028}",
    ]

    private static func isHarmful(_ scalar: Unicode.Scalar) -> Bool {
        guard scalar != "\n" else { return false }
        return scalar.properties.generalCategory == .control || scalar.properties.isBidiControl || scalar.value == 0x2028
            || scalar.value == 0x2029
    }

    // MARK: Answers

    /// Replaces the texts of a value, and adds the absent ones.
    private static func spoiled(_ value: JSONValue, _ type: FieldType, _ text: String) -> JSONValue {
        switch (type, value) {
        case (.string(let range), .string): range.upperBound >= text.unicodeScalars.count ? .string(text) : value
        case (.shape(let name), .object(let object)):
            .object(Self.spoiled(object, ChatReference.shapes.first { $0.name == name }?.fields ?? [], text))
        case (.list(let element, _), .array(let elements)): .array(elements.map { Self.spoiled($0, element, text) })
        case (.any, .object(var object)):
            {
                if object["text"] != nil { object["text"] = .string(text) }
                return .object(object)
            }()
        default: value
        }
    }

    private static func spoiled(_ object: JSONObject, _ fields: [Field], _ text: String) -> JSONObject {
        var object = object
        for field in fields {
            if let value = object[field.name] {
                object[field.name] = Self.spoiled(value, field.type, text)
            } else if case .string(let range) = field.type, range.upperBound >= text.unicodeScalars.count {
                object[field.name] = .string(text)
            }
        }
        return object
    }

    /// Lines that print what the server answers.
    private static let lines = [
        "/users bob", "/contacts", "/blocked", "/requests", "/sessions", "/directory", "/links", "/link", "/info", "/members", "/members",
        "/banned", "/approve", "/reactions #1", "/readers #2", "/scheduled", "/search words", "/privacy", "/quiet", "/folders", "/nick",
        "/votes #3", "/versions #2", "/archived", "/pins", "/add bob", "/accept bob", "/withdraw bob", "/contact bob", "/signout 1",
    ]

    @Test(arguments: texts) func noAnswerControlsTheTerminal(text: String) async throws {
        let fixture = try await CommandFixture()
        var spoiled = 0
        for verb in ChatReference.verbs
        where !["hello", "sync", "history", "send", "mark", "users", "subscribe", "typing", "conversation.open"].contains(verb.name) {
            guard let example = try JSONReader.read(verb.examples.answer).objectValue else { continue }
            let answer = Self.spoiled(example, verb.answer, text)
            if JSONValue.object(answer) != .object(example) { spoiled += 1 }
            fixture.server.script(verb.name, .object(answer))
        }
        #expect(spoiled > 10)
        var printed = 0
        for line in Self.lines {
            await fixture.perform(line)
            for said in fixture.host.said {
                printed += 1
                #expect(!said.text.unicodeScalars.contains(where: Self.isHarmful), "\(line): \(said.text.debugDescription)")
                // A line of another user cannot be mistaken for the beginning of an output line.
                for rest in said.text.split(separator: "\n", omittingEmptySubsequences: false).dropFirst() {
                    #expect(rest.hasPrefix("    "), "\(line): \(said.text.debugDescription)")
                }
                // The command of a line is one line, and a command.
                if let command = said.command {
                    guard case .command = ChatLine(command) else {
                        Issue.record("\(line): \(command.debugDescription)")
                        continue
                    }
                }
            }
            #expect(!fixture.host.said.contains { $0.text.contains("is not valid") }, "\(line): \(fixture.host.said.map(\.text))")
            _ = fixture.told()
        }
        #expect(printed > 30)
        await fixture.end()
    }

    // MARK: Refusals

    /// A command, and the verb that the server refuses.
    private static let refused = [
        ("/ban bob", "member.ban"), ("/unban bob", "member.unban"), ("/add bob", "member.add"), ("/remove bob", "member.remove"),
        ("/role bob admin", "member.role"), ("/silence bob", "member.mute"), ("/approve bob", "member.approve"), ("/leave", "member.leave"),
        ("/mute 1", "own.set"), ("/top", "own.set"), ("/archive", "own.set"), ("/unread", "own.set"), ("/delete", "conversation.delete"),
        ("/info", "conversation.info"), ("/title x", "conversation.set"), ("/slow 5", "conversation.set"), ("/links", "link.list"),
        ("/link", "link.create"), ("/revoke k7Qm2ZtX9bVw4NsA", "link.revoke"), ("/group T: bob", "conversation.create"),
        ("/channel T", "conversation.create"), ("/directory", "directory"), ("/join k7Qm2ZtX9bVw4NsA", "member.join"),
        ("/users bob", "people"), ("/contacts", "contacts"), ("/contact bob", "contact.request"), ("/uncontact bob", "contact.remove"),
        ("/alias bob B", "contact.alias"), ("/block bob", "block"), ("/unblock bob", "unblock"), ("/blocked", "contacts"),
        ("/requests", "contacts"), ("/report bob spam", "report"), ("/nick N", "profile.set"), ("/status S", "profile.set"),
        ("/privacy add all", "settings.set"), ("/quiet off", "settings.set"), ("/privacy", "settings"), ("/folders", "settings"),
        ("/sessions", "devices"), ("/signout others", "device.remove"), ("/members", "members"), ("/banned", "members"),
        ("/react 👍", "react"), ("/pin #1", "pin"), ("/recall #2", "recall"), ("/hide #1", "hide"), ("/edit #2 x", "edit"),
        ("/unpreview #2", "preview.remove"), ("/vote #3 1", "vote"), ("/closepoll #3", "poll.close"), ("/reactions #1", "reactions"),
        ("/readers #2", "readers"), ("/forward #1 bob", "forward"), ("/schedule +1h x", "schedule"), ("/scheduled", "scheduled"),
        ("/open zed", "conversation.open"),
    ]

    /// Each refusal is one line in the style of a warning, with the text of the server.
    @Test(arguments: ["No.\u{1B}[2J\u{202E}", "two\nlines"]) func eachRefusalIsOneHarmlessWarning(text: String) async throws {
        let fixture = try await CommandFixture()
        for (line, verb) in Self.refused {
            fixture.server.script(verb, ChatError(.forbidden, message: text, field: text).json)
            let before = fixture.server.count(of: verb)
            await fixture.perform(line)
            #expect(fixture.server.count(of: verb) > before, "\(line)")
            #expect(fixture.host.said.map(\.style) == [.warning], "\(line): \(fixture.host.said.map(\.text))")
            let told = fixture.told().first ?? ""
            #expect(told.hasPrefix(ChatText.harmless(text)), "\(line): \(told.debugDescription)")
            #expect(!told.unicodeScalars.contains(where: Self.isHarmful), "\(line): \(told.debugDescription)")
        }
        #expect(fixture.host.shown.isEmpty && fixture.host.openedFiles.isEmpty)
        await fixture.end()
    }

    /// An answer of another form is an error that names the verb, and never a crash.
    @Test(arguments: [JSONValue.null, [], "x", 7, ["users": 1], ["head": [:]], ["contacts": [nil]], ["devices": [[:]], "links": ["x"]]])
    func anAnswerOfAnotherFormIsAnError(answer: JSONValue) async throws {
        let fixture = try await CommandFixture()
        for (line, verb) in [
            ("/users bob", "people"), ("/info", "conversation.info"), ("/contacts", "contacts"), ("/sessions", "devices"),
            ("/links", "link.list"), ("/directory", "directory"), ("/members", "members"), ("/privacy", "settings"),
            ("/reactions #1", "reactions"), ("/readers #2", "readers"), ("/scheduled", "scheduled"),
        ] {
            fixture.server.script(verb, answer)
            await fixture.perform(line)
            let said = fixture.host.said
            // An object that lacks a list has an empty one.
            let isError = said.count == 1 && said[0].style == .warning && said[0].text.hasPrefix("the answer to `\(verb)` is not valid")
            let isEmpty = answer.objectValue != nil && said.allSatisfy { $0.style != .warning }
            #expect(isError || isEmpty, "\(line): \(said.map(\.text))")
            _ = fixture.told()
        }
        await fixture.end()
    }

    // MARK: Files

    /// The sender of a file chooses its name, and never the folder or a home directory.
    @Test(
        arguments: [
            ("a.txt", "a.txt"), ("../../etc/passwd", "passwd"), ("/", "file"), ("", "file"), ("..", "file"), (".bashrc", "bashrc"),
            ("~", "file"), ("~root", "root"), (".~root", "root"), ("~/x", "x"), ("a~b", "a~b"), ("a\u{202E}b\n", "a\u{FFFD}b\u{FFFD}"),
            ("-rf", "-rf"), ("图片.png", "图片.png"),
        ])
    func aSavedFileHasASafeName(name: String, safe: String) {
        #expect(ChatCommander.fileName(from: name) == safe)
    }

    @Test(arguments: [
        ("zip", "application/octet-stream"), ("/x/pdf", "application/octet-stream"), (".png", "application/octet-stream"),
        ("photos.png/raw", "application/octet-stream"), ("a.", "application/octet-stream"), ("dir.zip/a.txt", "text/plain"),
        ("./a.JPG", "image/jpeg"), ("..png", "image/png"),
    ])
    func onlyAnExtensionHasAType(path: String, type: String) { #expect(MediaType.of(path: path) == type) }
}

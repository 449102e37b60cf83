import ApusChatProtocol
import ApusChatTerminal
import ApusJSON
import Testing

@testable import ApusChatClient

/// The messages to which a command without a number applies.
@MainActor @Suite("Targets of commands", .timeLimit(.minutes(5)))
struct ChatCommanderTargetTests {
    private nonisolated static let kinds = [
        ("/edit x", "own text"), ("/unpreview", "own text with a preview"), ("/versions", "edited message"),
        ("/reactions", "message with reactions"), ("/closepoll", "own poll"), ("/vote 1", "poll"), ("/votes", "poll"), ("/save", "file"),
        ("/view", "file"), ("/reply x", "message of another user"), ("/react 👍", "message of another user"), ("/unreact 👍", "message"),
        ("/recall", "message"), ("/hide", "message"), ("/pin", "message"), ("/unpin", "message"), ("/readers", "message"),
        ("/forward bob", "message"), ("/report spam", "message of another user"), ("/thread", "message"), ("/thread x", "message"),
    ]

    /// The error states which messages the command would have applied to.
    @Test(arguments: kinds) func aCommandWithoutAMessageNamesWhatIsMissing(line: String, kind: String) async throws {
        try await CommandFixture.with { fixture in
            let words = "there is no \(kind) on the screen; name a message by its number, such as #17"
            let rows = fixture.host.shownRows
            fixture.host.shownRows = []
            await fixture.perform(line)
            #expect(fixture.told() == [words], "an empty screen")
            fixture.host.shownRows = rows.flatMap { row -> [ChatMessage] in
                [EventState.recalled, .expired, .erased].map { state in
                    var row = row
                    row.event.state = state
                    return row
                }
            }
            await fixture.perform(line)
            #expect(fixture.told() == [words], "messages without content")
            fixture.host.shownRows = rows.map { row in
                var row = row
                row.event.n = nil
                return row
            }
            await fixture.perform(line)
            #expect(fixture.told() == [words], "unsent messages and changes")
            for verb in ["edit", "recall", "react", "pin", "hide", "vote", "report", "forward", "send"] {
                #expect(fixture.server.count(of: verb) == 0, "\(verb)")
            }
        }
    }

    /// #1 is of bob, #2 and the poll #3 are of alice.
    @Test(
        arguments: [
            ("/unreact 👍", "react", "ref", 3), ("/pin", "pin", "ref", 3), ("/unpin", "pin", "ref", 3), ("/readers", "readers", "seq", 3),
            ("/edit x", "edit", "ref", 2), ("/recall", "recall", "ref", 3), ("/closepoll", "poll.close", "ref", 3),
        ] as [(String, String, String, Int64)])
    func theLastMessageOfTheKindIsTheTarget(line: String, verb: String, field: String, seq: Int64) async throws {
        try await CommandFixture.with { fixture in
            await fixture.perform(line)
            #expect(fixture.request(verb)?[field] == .integer(seq))
            // The selected message comes first, also if it is of another kind: the server decides.
            fixture.host.selectedSeq = 1
            await fixture.perform(line)
            #expect(fixture.request(verb)?[field] == 1)
        }
    }

    /// The last message with the property is the target, not the last message.
    @Test(
        arguments: [
            ("/versions", "history", "edits"), ("/reactions", "reactions", "ref"), ("/unpreview", "preview.remove", "ref"),
        ] as [(String, String, String)])
    func thePropertyOfAMessageSelectsIt(line: String, verb: String, field: String) async throws {
        try await CommandFixture.with { fixture in
            fixture.host.shownRows[1].event.state = .edited
            fixture.host.shownRows[1].event.reactions = [ReactionCount(key: "👍", count: 1)]
            fixture.host.shownRows[1].event.body["preview"] = ["url": "https://a.example"]
            await fixture.perform(line)
            #expect(fixture.request(verb)?[field] == 2)
        }
    }

    @Test(arguments: [("/recall #1,#3", "recall"), ("/pin #1,#3", "pin"), ("/unpin #1,#3", "pin")])
    func severalMessagesAreChangedInTheirOrder(line: String, verb: String) async throws {
        try await CommandFixture.with { fixture in
            await fixture.perform(line)
            #expect(fixture.server.requests(of: verb).map { $0["ref"] } == [1, 3])
        }
    }

    /// The messages after a refused one are left, and the refusal is reported once.
    @Test func aRefusalEndsTheChangesOfSeveralMessages() async throws {
        try await CommandFixture.with { fixture in
            let done: JSONValue = ["conv": .string(fixture.group.rawValue), "id": "x", "seq": 9, "at": 1]
            fixture.server.script("recall", done, ChatError(.tooLate, message: "Too late.").json)
            await fixture.perform("/recall #1-#3")
            #expect(fixture.server.requests(of: "recall").map { $0["ref"] } == [1, 2])
            #expect(fixture.told() == ["Too late."])
        }
    }

    /// A command that reads a message finds one that is not on the screen, or reports its absence.
    @Test(arguments: ["/vote #99 1", "/votes #99", "/save #99 x", "/view #99", "/thread #99", "/thread #99 x"])
    func aMessageThatDoesNotExistIsAnError(line: String) async throws {
        try await CommandFixture.with { fixture in
            await fixture.perform(line)
            #expect(fixture.told() == ["there is no message #99"])
            #expect(fixture.host.threads.isEmpty && fixture.host.openedFiles.isEmpty)
        }
    }

    @Test func aMessageThatIsNotOnTheScreenIsRead() async throws {
        try await CommandFixture.with { fixture in
            fixture.host.shownRows = []
            await fixture.perform("/vote #3 2 1")
            #expect(fixture.request("vote") == ["ref": 3, "options": [1, 0]])
        }
    }

    /// A reply in a thread opens the thread, not the reply.
    @Test func theThreadOfAReplyIsThatOfItsFirstMessage() async throws {
        try await CommandFixture.with { fixture in
            fixture.host.shownRows[2].event.thread = 1
            await fixture.perform("/thread")
            #expect(fixture.host.threads == [1])
            await fixture.perform("/thread #3 more")
            try await eventually { fixture.server.count(of: "send") == 1 }
            #expect(fixture.request("send")?["thread"] == 1)
        }
    }

    @Test func theSelectedMessageIsReportedAlone() async throws {
        try await CommandFixture.with { fixture in
            fixture.host.selectedSeq = 1
            await fixture.perform("/report impersonation Not  bob")
            #expect(fixture.request("report") == ["seqs": [1], "reason": "impersonation", "text": "Not bob"])
            await fixture.perform("/report #1-#2 illegal")
            #expect(fixture.request("report") == ["seqs": [1, 2], "reason": "illegal"])
            #expect(fixture.told().last == "The report of #1, #2 was sent to the operator.")
        }
    }

    /// `@chat` and `@spam` are users, and `chat` is the conversation.
    @Test(
        arguments: [
            ("/report @chat violence", ["user": "chat", "reason": "violence"]),
            ("/report @spam spam", ["user": "spam", "reason": "spam"]), ("/report chat spam", ["reason": "spam"]),
        ] as [(String, JSONValue)])
    func theObjectOfAReportIsNamed(line: String, request: JSONValue) async throws {
        try await CommandFixture.with { fixture in
            await fixture.perform(line)
            #expect(fixture.request("report") == request)
        }
    }
}

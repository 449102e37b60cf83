import ApusChatClient
import ApusChatProtocol
import ApusJSON
import Foundation
import Testing

@testable import ApusChatTerminal

@Suite("Messages of every kind on the screen")
struct ScreenMessageContentTests {
    private func screen(_ message: ChatMessage, quote: ChatMessage? = nil) -> ScreenMessage {
        ScreenMessage(message, quote: quote, me: Sample.alice, clock: .system) { "\($0)!" }
    }

    private func lines(_ message: ChatMessage, quote: ChatMessage? = nil) -> [String] {
        self.screen(message, quote: quote).paragraphs.map { $0.map(\.text).joined() }
    }

    private static let contents: [[String]] = [
        ["hello"], ["[picture cat.png, 40×30, 5 kB]", "a cat"], ["[voice message, 12 s]"], ["[film film.mp4, 20 MB]"],
        ["[file plan.pdf, 12 bytes]", "for you"], ["[place 48.5, 2.25] Paris"], ["[user @carol]"], ["[missed call]"],
        ["◉ When?", " 1 ○ Mon   0", " 2 ○ Tue   0", "/vote #7 NUMBER"], ["▤ Plans, 1 messages", "┆ bob: At six"], ["[encrypted message]"],
        ["e4"],
    ]

    @Test func everyKindHasItsLines() {
        #expect(Sample.bodies.count == Self.contents.count)
        for ((kind, body), lines) in zip(Sample.bodies, Self.contents) { #expect(self.lines(Sample.message(kind, body)) == lines) }
    }

    /// Reactions, the quote and the replies are shown once with each kind of message.
    @Test func eachDetailOfAMessageIsShownOnce() {
        for (kind, body) in Sample.bodies {
            var message = Sample.message(kind, body, ref: 3, state: .edited)
            message.event.reactions = [ReactionCount(key: "👍", count: 2)]
            message.event.replies = ThreadSummary(count: 1, seq: 9)
            let text = self.lines(message, quote: Sample.message("text", ["text": "question"])).joined(separator: "\n")
            #expect(text.hasPrefix("┃ bob!: question\n"), "\(kind)")
            for part in ["👍 2", "question", "(edited)", "1 reply in the thread"] {
                #expect(text.components(separatedBy: part).count == 2, "\(kind): \(part) in \(text)")
            }
        }
    }

    @Test func mediaWithoutANameHaveNone() {
        for index in [1, 3] {
            var body = Sample.bodies[index].body
            body["name"] = nil
            #expect(["[picture, 40×30, 5 kB]", "[film, 20 MB]"].contains(self.lines(Sample.message(Sample.bodies[index].kind, body))[0]))
        }
    }

    @Test func anUploadReportsItsProgress() {
        var message = Sample.message("image", Sample.bodies[1].body, delivery: .uploading)
        message.progress = 0.42
        #expect(self.lines(message)[0] == "[picture cat.png, not uploaded yet]  42 %")
        #expect(self.screen(message).mark == .waiting)
    }

    @Test(
        arguments: [
            (["sender": "carol", "at": 1], "↪ forwarded from carol"),
            (["sender": "carol", "nick": "Carol", "at": 1], "↪ forwarded from Carol"),
            (["at": 1], "↪ forwarded"),
        ] as [(JSONObject, String)])
    func forwardedMessagesNameTheirOrigin(origin: JSONObject, line: String) {
        for (kind, body) in Sample.bodies where ["text", "image", "audio", "video", "file", "poll"].contains(kind) {
            var body = body
            body["forwarded"] = .object(origin)
            #expect(self.lines(Sample.message(kind, body))[0] == line, "\(kind)")
        }
    }

    @Test func aLinkPreviewIsALine() {
        func lines(_ preview: JSONObject) -> [String] {
            self.lines(Sample.message("text", ["text": "https://a.example", "preview": .object(preview)]))
        }
        #expect(lines(["url": "https://a.example", "title": "A", "site": "Example"]).last == "┆ A — Example")
        #expect(lines(["url": "https://a.example", "site": "Example"]).last == "┆ Example")
        #expect(lines(["url": "https://a.example"]) == ["https://a.example"])
    }

    @Test func aBundleShowsTenMessages() {
        let items: [JSONValue] = (1...14).map { ["at": 1, "nick": "Bob", "kind": "text", "body": ["text": .string("text \($0)")]] }
        let lines = self.lines(Sample.message("bundle", ["title": "T", "items": .array(items)]))
        #expect(lines.count == 11 && lines[0] == "▤ T, 14 messages" && lines[10] == "┆ Bob: text 10")
        let other = self.lines(Sample.message("bundle", ["title": "T", "items": [["at": 1, "kind": "image", "body": [:]]]]))
        #expect(other[1] == "┆ ?: [image]")
    }

    // MARK: Polls

    @Test func votesAreBars() {
        var event = Sample.event("poll", ["question": "?", "options": ["a", "b", "c"], "closed": true])
        event.votes = [4, 2]
        let message = self.screen(ChatMessage(event: event, ownVotes: [0]))
        #expect(
            message.paragraphs.map { $0.map(\.text).joined() } == ["◉ ?  closed", " 1 ● a  ▇▇▇▇▇▇▇▇▇▇ 4", " 2 ○ b  ▇▇▇▇▇ 2", " 3 ○ c   0"])
        #expect(message.paragraphs[1][0].style == .accent && message.paragraphs[2][0].style == .normal)
    }

    @Test func votesOfABrokenServerAreNotDrawn() {
        var event = Sample.event("poll", ["question": "?", "options": ["a", "b"]])
        event.votes = [WireReader.largestInteger, -5]
        let lines = self.lines(ChatMessage(event: event))
        #expect(lines[1].hasPrefix(" 1 ○ a  ▇▇▇▇▇▇▇▇▇▇ 9007199254740991") && lines[2] == " 2 ○ b   0")
    }

    // MARK: Senders and times

    @Test func senderIdAndPlace() {
        let other = self.screen(Sample.message("text", ["text": "x"]))
        #expect(other.sender == "bob!" && !other.isOwn && other.id == "7" && other.seq == 7 && other.mark == .none)
        let own = self.screen(Sample.message("text", ["text": "x"], delivery: .sent))
        #expect(own.sender == "you" && own.isOwn && own.id == "own m7")
        // The user sent the message with another device.
        let elsewhere = self.screen(ChatMessage(event: Sample.event("text", ["text": "x"], by: "alice")))
        #expect(elsewhere.sender == "you" && elsewhere.isOwn && elsewhere.id == "7")
        let unsent = self.screen(ChatMessage(event: Sample.event("text", ["text": "x"], seq: 0, by: "alice"), delivery: .queued))
        #expect(unsent.seq == nil && unsent.mark == .waiting)
    }

    @Test func aRefusalIsOneHarmlessLine() {
        let error = ChatError(.forbidden, message: "no\u{1B}[2J\nway")
        #expect(self.screen(Sample.message("text", ["text": "x"], delivery: .failed(error))).mark == .failed("no[2J way"))
    }

    @Test func changesAreNotices() {
        let join = self.screen(Sample.message("member.join", ["users": ["carol"]]))
        #expect(join.isNotice && join.paragraphs.map { $0.map(\.text).joined() } == ["bob! (added @carol)"] && join.mark == .none)
        let own = self.screen(ChatMessage(event: Sample.event("member.leave", by: "alice")))
        #expect(own.paragraphs == [[ScreenSpan("you (left)")]])
        let server = self.screen(ChatMessage(event: Sample.event("member.leave", by: nil)))
        #expect(server.paragraphs == [[ScreenSpan("(left)")]])
        // An unknown kind of an application is a message that can be answered.
        #expect(self.screen(Sample.message("x.later", [:])).isNotice == false)
    }

    @Test(arguments: [(EventState.recalled, "(recalled)"), (.expired, "(disappeared)"), (.erased, "(removed)")])
    func aBlankMessageStatesTheReason(state: EventState, words: String) {
        for (kind, _) in Sample.bodies {
            let message = self.screen(Sample.message(kind, [:], ref: 3, state: state))
            #expect(message.paragraphs == [[ScreenSpan(words, .dim)]] && !message.isNotice && message.source.isEmpty, "\(kind)")
        }
    }

    @Test func theSourceIsMarkdown() {
        let body: JSONObject = ["text": "a bold word", "entities": [["type": "bold", "offset": 2, "length": 4]]]
        var own = Sample.message("text", body)
        own.event.sender = Sample.alice
        #expect(self.screen(own).source == "a **bold** word")
        #expect(self.screen(Sample.message("text", body)).source.isEmpty, "another user's message")
        own = Sample.message("image", Sample.bodies[1].body)
        own.event.sender = Sample.alice
        #expect(self.screen(own).source.isEmpty)
    }

    @Test func ownReactionsStandOut() {
        var message = Sample.message("text", ["text": "x"])
        message.event.reactions = [ReactionCount(key: "👍", count: 2), ReactionCount(key: "❤️", count: 1)]
        message.ownReactions = ["❤️"]
        #expect(self.screen(message).paragraphs.last == [ScreenSpan("[👍 2] ", .dim), ScreenSpan("[❤️ 1] ", .accent)])
    }

    // MARK: Styles

    @Test(arguments: [
        (TextEntityKind.bold, ScreenStyle(isBold: true)), (.quote, .dim), (.code, .notice), (.pre, .notice), (.spoiler, .reverse),
        (.hashtag, .accent), (.mention, ScreenStyle(colour: .cyan, isBold: true)), (.all, ScreenStyle(colour: .cyan, isBold: true)),
        (.list, .normal), (.unknown, .normal),
    ])
    func aKindOfEntityIsAStyle(kind: TextEntityKind, style: ScreenStyle) {
        #expect(ScreenMessage.styled("ab", [TextEntity(kind: kind, offset: 0, length: 2)]) == [[ScreenSpan("ab", style)]])
    }

    @Test func entitiesCrossLinesAndScalars() {
        let entities = [TextEntity(kind: .bold, offset: 0, length: 3), TextEntity(kind: .strike, offset: 4, length: 100)]
        let paragraphs = ScreenMessage.styled("a\nb\n👍c", entities)
        #expect(paragraphs.map { $0.map(\.text) } == [["a"], ["b"], ["👍c"]])
        #expect(paragraphs[0][0].style.isBold && paragraphs[1][0].style.isBold && paragraphs[2][0].style.isStruck)
        #expect(ScreenMessage.styled("", entities) == [[]] && ScreenMessage.styled("\n\n", []) == [[], [], []])
    }
}

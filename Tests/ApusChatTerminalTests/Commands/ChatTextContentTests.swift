import ApusChatClient
import ApusChatProtocol
import ApusJSON
import Testing

@testable import ApusChatTerminal

@Suite("Messages as text")
struct ChatTextContentTests {
    private static let contents = [
        "hello", "[picture 40×30, 5 kB] a cat", "[voice message, 0:12]", "[film 4×3, 20 MB]", "[file plan.pdf, 12 bytes] for you",
        "[place 48.5, 2.25] Paris", "[user @carol]", "[missed call]", "[poll] When?\n    1. Mon  0\n    2. Tue  0", "[1 messages] Plans",
        "[encrypted message]", "e4",
    ]

    @Test func everyKindHasWords() {
        #expect(Sample.bodies.count == Self.contents.count)
        for ((kind, body), words) in zip(Sample.bodies, Self.contents) {
            #expect(ChatText.content(of: Sample.message(kind, body)) == words)
        }
    }

    @Test(arguments: [
        (EventState.recalled, "(recalled)"), (.expired, "(disappeared)"), (.erased, "(removed)"), (.edited, "hello (edited)"),
        (.normal, "hello"), (.unknown, "hello"),
    ])
    func statesHaveWords(state: EventState, words: String) {
        #expect(ChatText.content(of: Sample.message("text", ["text": "hello"], state: state)) == words)
    }

    @Test(
        arguments: [
            ("conversation.create", ["kind": "group"], "(created the group)"),
            ("conversation.create", ["kind": "pair"], "(opened the conversation)"),
            ("conversation.set", ["title": "New"], "(named the conversation \"New\")"),
            ("conversation.set", ["about": "x"], "(changed the description)"),
            ("conversation.set", ["about": "", "avatar": ""], "(removed the description, removed the picture)"),
            ("conversation.set", ["settings": ["slow": 90]], "(set slow mode: one message in 90 s)"),
            ("conversation.set", ["settings": ["slow": 0, "expire": 604_800]], "(ended slow mode, lets messages disappear after 7 d)"),
            ("conversation.set", ["settings": ["expire": 0]], "(lets messages stay)"),
            ("conversation.set", ["settings": ["write": "admins", "listed": true]], "(lets admins write, listed it in the directory)"),
            ("conversation.set", ["settings": ["join": "approval"]], "(made joining subject to approval)"),
            (
                "conversation.set", ["settings": ["pin": "members", "history": "join", "receipts": false]],
                "(lets members pin messages, lets new members read messages after they join, hides read receipts)"
            ),
            ("conversation.set", [:], "(changed the settings)"),
            ("member.join", ["users": ["bob", "carol"]], "(added @bob, @carol)"), ("member.join", [:], "(joined)"),
            ("member.join", ["via": "link"], "(joined by a link)"), ("member.leave", [:], "(left)"),
            ("member.invite", ["users": ["bob"]], "(invited @bob)"),
            ("member.remove", ["users": ["bob"]], "(removed @bob)"), ("member.ban", ["users": ["bob"]], "(banned @bob)"),
            ("member.unban", ["users": ["bob"]], "(unbanned @bob)"),
            ("member.role", ["users": ["bob"], "role": "admin"], "(made @bob admin)"),
            ("member.mute", ["users": ["bob"]], "(lets @bob write again)"),
            ("member.join", ["users": ["bob"], "via": "approval"], "(joined)"),
            ("member.mute", ["users": ["bob"], "until": 9], "(silenced @bob)"),
            ("recall", [:], "(recall)"), ("sticker", [:], "(update to see this)"),
            ("member.join", ["users": 1], "(member.join)"),
        ] as [(String, JSONObject, String)])
    func changesHaveWords(kind: String, body: JSONObject, words: String) {
        #expect(ChatText.content(of: Sample.message(kind, body)) == words)
    }

    @Test func aLinkPreviewIsALineBelowTheText() {
        func text(_ preview: JSONObject) -> String {
            ChatText.content(of: Sample.message("text", ["text": "https://a.example", "preview": .object(preview)]))
        }
        #expect(text(["url": "https://a.example", "title": "A\nb", "site": "Example"]) == "https://a.example\n    ┆ A b — Example")
        #expect(text(["url": "https://a.example"]) == "https://a.example")
    }

    @Test func pinsNameTheirMessage() {
        #expect(ChatText.content(of: Sample.message("pin", [:], ref: 3)) == "(pinned #3)")
        #expect(ChatText.content(of: Sample.message("pin", ["remove": true], ref: 3)) == "(unpinned #3)")
        #expect(ChatText.content(of: Sample.message("pin")) == "(pinned a message)")
    }

    @Test func titlesOfOthersAreHarmless() {
        let set = Sample.message("conversation.set", ["title": "a\u{1B}[2Jb"])
        #expect(ChatText.content(of: set) == "(named the conversation \"a\u{FFFD}[2Jb\")")
        var row = Sample.message("text", ["text": "x"])
        row.event.reactions = [ReactionCount(key: "\u{1B}c", count: 2)]
        #expect(ChatText.content(of: row) == "x  [\u{FFFD}c 2]")
        let poll = Sample.message("poll", ["question": "\u{1B}", "options": ["\u{9B}", "b"]])
        #expect(!ChatText.content(of: poll).unicodeScalars.contains { $0.value == 0x1B || $0.value == 0x9B })
    }

    @Test func theDetailsOfAMessageAreShown() {
        var row = Sample.message("text", ["text": "answer"], ref: 3)
        #expect(ChatText.content(of: row, quote: Sample.message("text", ["text": "question"])) == "↩ #3 bob: question » answer")
        row.event.thread = 3
        #expect(ChatText.content(of: row) == "↩ #3 answer")  // the first reply of a thread names the message once
        row.event.thread = 2
        row.event.replies = ThreadSummary(count: 4, seq: 9)
        row.event.reactions = [ReactionCount(key: "👍", count: 2)]
        #expect(ChatText.content(of: row) == "⤷ #2 ↩ #3 answer  [4 in the thread]  [👍 2]")
    }

    @Test func pollsTellVotes() {
        var event = Sample.event("poll", ["question": "When?", "options": ["Mon", "Tue", "Wed"], "closed": true])
        event.votes = [2, 1]  // fewer than there are options
        let words = ChatText.content(of: ChatMessage(event: event, ownVotes: [1]))
        #expect(words == "[closed poll] When?\n    1. Mon  2\n    2. Tue  1 ✓\n    3. Wed  0")
    }

    @Test func uploadsHaveNoSizeYet() {
        let image = Sample.bodies[1].body
        #expect(ChatText.content(of: Sample.message("image", image, delivery: .uploading)) == "[picture, not uploaded yet] a cat")
    }

    @Test(
        arguments: [
            (0, "0 bytes"), (1, "1 byte"), (999, "999 bytes"), (1_000, "1 kB"), (1_024, "1 kB"), (1_550, "1.6 kB"), (9_949, "9.9 kB"),
            (9_950, "10 kB"), (292_499, "292 kB"), (292_500, "293 kB"), (1_000_000, "1 MB"), (10_485_760, "10 MB"),
            (1_073_741_824, "1.1 GB"), (.max, "9223372037 GB"),
        ] as [(Int64, String)])
    func sizesHaveUnits(bytes: Int64, words: String) { #expect(ChatText.size(bytes) == words) }

    @Test(arguments: [
        (DeliveryState?.none, ""), (.queued, "… waiting"), (.uploading, "… waiting"), (.sending, "… waiting"), (.sent, "✓"),
        (.delivered, "✓✓"),
        (.read, "✓✓ read"), (.failed(ChatError(.forbidden, message: "no")), "✗ not sent"),
    ])
    func deliveriesHaveMarks(delivery: DeliveryState?, mark: String) { #expect(ChatText.mark(for: delivery) == mark) }

    // MARK: Lists

    private func preview(_ kind: String, _ text: String?, state: EventState = .normal) -> EventPreview {
        EventPreview(seq: 1, n: 1, sender: nil, at: 0, kind: EventKind(rawValue: kind), state: state, text: text)
    }

    @Test(
        arguments: [
            (CallState.missed, nil, "Missed call"), (.declined, nil, "Declined call"), (.busy, nil, "Busy"),
            (.ended, 151_000, "Call, 2:31"),
            (.ended, 3_785_999, "Call, 1:03:05"), (.ringing, nil, "Call, ringing"),
        ] as [(CallState, Int64?, String)])
    func previewsOfCallsShowTheResult(state: CallState, duration: Int64?, expected: String) {
        var preview = self.preview("call", nil)
        (preview.call, preview.duration) = (state, duration)
        #expect(ChatText.summary(of: preview) == expected)
        preview.media = .audio
        #expect(ChatText.summary(of: preview) == expected)
        preview.media = .video
        #expect(ChatText.summary(of: preview) == expected.replacing("Call, ", with: "Video call, "))
    }

    @Test func previewsOfVoiceMessagesShowTheDuration() {
        var preview = self.preview("audio", "a caption")
        (preview.isVoice, preview.duration) = (true, 12_400)
        #expect(ChatText.summary(of: preview) == "Voice message, 0:12")
        preview.isVoice = false
        #expect(ChatText.summary(of: preview) == "[audio] a caption")
    }

    @Test func previewsAreOneLine() {
        #expect(ChatText.summary(of: self.preview("text", "a\nb")) == "a b")
        #expect(ChatText.summary(of: self.preview("image", "cat")) == "[image] cat")
        #expect(ChatText.summary(of: self.preview("image", nil)) == "(image)")
        #expect(ChatText.summary(of: self.preview("text", "a", state: .recalled)) == "(recalled)")
        #expect(ChatText.summary(of: self.preview("text", "a\u{1B}[2J")) == "a\u{FFFD}[2J")
        #expect(ChatText.summary(of: self.preview("text", String(repeating: "长", count: 100))).count == 60)
    }

    @Test(arguments: [
        ("", 5, ""), ("abc", 5, "abc"), ("abcde", 5, "abcde"), ("abcdef", 5, "abcd…"), ("a\n\n  b", 5, "a b"), ("\n", 5, ""),
        ("a\r\nb", 5, "a b"),
        ("👨‍👩‍👧👨‍👩‍👧👨‍👩‍👧", 2, "👨‍👩‍👧…"),
    ])
    func linesAreShortened(text: String, length: Int, line: String) { #expect(ChatText.shortened(text, to: length) == line) }

    @Test func conversationsHaveTitles() {
        var head = ChatHead(conversation: ConversationID(number: 1), kind: .group, title: "Team\u{202E}", seq: 1, n: 1, at: 1)
        #expect(ChatText.title(of: head) == "Team\u{FFFD}")
        head.title = nil
        #expect(ChatText.title(of: head) == "?")
        head.kind = .pair
        head.peer = ChatUser(name: UserName(prepared: "bob"))
        #expect(ChatText.title(of: head) == "bob")
        head.peer?.nick = "Bob"
        #expect(ChatText.title(of: head) == "Bob")
        head.kind = .own
        #expect(ChatText.title(of: head) == "Notes")
    }
}

import ApusChatClient
import ApusChatProtocol
import Foundation
import Testing

@testable import ApusChatTerminal

/// Numbers and times in the texts of the terminal, at their limits.
@Suite("Numbers and times as text")
struct ChatTextLimitTests {
    /// 2026-11-24 11:30:00 in UTC.
    private static let now: Int64 = 1_795_519_800_000
    private static let year: Int64 = 365 * 86_400_000

    private var clock: ChatClock {
        get throws {
            var calendar = Calendar(identifier: .gregorian)
            calendar.timeZone = try #require(TimeZone(identifier: "UTC"))
            return ChatClock(now: { Self.now }, calendar: calendar)
        }
    }

    @Test(
        arguments: [
            (0, "0:00"), (999, "0:00"), (1_000, "0:01"), (59_999, "0:59"), (60_000, "1:00"), (599_000, "9:59"), (3_599_999, "59:59"),
            (3_600_000, "1:00:00"), (3_661_000, "1:01:01"), (360_000_000, "100:00:00"), (-1, "0:00"), (.min, "0:00"),
            (.max, "2562047788015:12:55"),
        ] as [(Int64, String)])
    func lengthsAreMinutesAndSeconds(milliseconds: Int64, text: String) { #expect(ChatText.length(milliseconds) == text) }

    @Test(
        arguments: [
            (0, "0 s"), (1, "1 s"), (59, "59 s"), (60, "1 min"), (90, "90 s"), (120, "2 min"), (3_600, "1 h"), (5_400, "90 min"),
            (86_400, "1 d"), (604_800, "7 d"), (86_401, "86401 s"), (-60, "-60 s"),
        ] as [(Int64, String)])
    func durationsHaveTheLargestUnit(seconds: Int64, text: String) { #expect(ChatSettingsText.time(seconds) == text) }

    @Test(
        arguments: [(0, "0 members"), (1, "1 member"), (2, "2 members"), (10_000, "10000 members"), (-1, "-1 members")] as [(Int64, String)]
    )
    func oneMemberIsSingular(number: Int64, text: String) { #expect(ChatText.members(number) == text) }

    /// A wait of less than ten seconds is not worth a time, and one of 50 years means never.
    @Test(
        arguments: [
            (nil, "No."), (0, "No."), (9_999, "No."), (10_000, "No. Possible again: 11:30."), (1_800_000, "No. Possible again: 12:00."),
            (86_400_000, "No. Possible again: Wed 2026-11-25 11:30."), (50 * year - 1, "No. Possible again: Wed 2076-11-11 11:29."),
            (50 * year, "No."), (.max, "No."), (.min, "No."),
        ] as [(Int64?, String)])
    func aRefusalStatesWhenToTryAgain(wait: Int64?, text: String) throws {
        let refusal = ChatError(.tooMany, message: "No.", retryAfter: wait)
        #expect(ChatText.reason(refusal, try self.clock) == text)
        #expect(ChatText.reason(ChatClientError(.refused, message: "No.", serverError: refusal), try self.clock) == text)
    }

    @Test func anotherErrorHasItsDescription() throws {
        struct Other: Error, CustomStringConvertible { let description = "disk\u{1B}[2J" }
        #expect(ChatText.reason(Other(), try self.clock) == "disk\u{FFFD}[2J")
        #expect(ChatText.reason(ChatClientError(.invalidUse, message: "one\ntwo"), try self.clock) == "one\n    two")
    }

    @Test(
        arguments: [
            (nil, nil), (0, nil), (now, nil), (now - 1, nil), (now + 1, "you may not write until 11:30"),
            (now + 86_400_000, "you may not write until Wed 2026-11-25 11:30"),
            (now + 100 * year - 1, "you may not write until Thu 2126-10-31 11:29"),
            (now + 100 * year, "you may not write"), (.max, "you may not write"),
        ] as [(Int64?, String?)])
    func aSilenceReportsItsEnd(end: Int64?, text: String?) throws {
        let head = ChatHead(conversation: ConversationID(number: 1), kind: .group, seq: 1, n: 1, at: 1, silencedUntil: end)
        #expect(ChatText.silence(of: head, try self.clock) == text)
    }

    /// The title of a panel or a row is one line without controls, as long as the row permits.
    @Test(arguments: ["", "a", "你好", "👨‍👩‍👧", "a\u{301}\u{302}", "a\nb", "\n\n", "  lead", String(repeating: "长", count: 200)])
    func shortenedTextsAreOneLine(text: String) {
        for length in [1, 2, 5, 60] {
            let line = ChatText.shortened(text, to: length)
            #expect(line.count <= length && !line.contains(where: \.isNewline), "\(length)")
            #expect(text.contains("\n") || text.first == " " || line.hasPrefix(String(text.prefix(length - 1))), "\(length)")
            #expect(ChatText.shortened(line, to: length) == line, "\(length)")
        }
    }
}

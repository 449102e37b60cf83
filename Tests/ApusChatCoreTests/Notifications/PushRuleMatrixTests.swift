import ApusChatProtocol
import ApusChatStorage
import Testing

@testable import ApusChatCore

/// All combinations of the conditions of a notification.
@Suite struct PushRuleMatrixTests {
    private static let time: Int64 = 1_790_000_000_000
    private static let minute = time / 60_000 % 1_440

    private enum Mention: CaseIterable { case none, other, user, all }

    /// A message is notified if no condition against it holds. Each condition is enough.
    @Test(arguments: [false, true], [false, true]) func eachConditionIsEnough(isSilent: Bool, mentionsOnly: Bool) {
        var notified = 0
        for state in [MemberState.joined, .invited, .requested, .left, .removed, .banned, .unknown] {
            for (isGone, isMuted, isQuiet, isRead) in Self.flags {
                for mention in Mention.allCases {
                    var member = MemberRow(address: MemberAddress(ConversationKey(1), UserKey(2)), role: .member, state: state)
                    member.isGone = isGone
                    member.mutedUntil = isMuted ? Self.time + 1 : Self.time
                    member.readN = isRead ? 5 : 4
                    var event = EventRow(
                        conversation: ConversationKey(1), seq: 9, n: 5, sender: UserKey(1), at: Self.time, kind: .text, body: "{}")
                    event.mentions = mention == .user ? [UserKey(3), UserKey(2)] : mention == .other ? [UserKey(3)] : []
                    event.mentionsAll = mention == .all
                    let quiet = isQuiet ? QuietHours(from: Self.minute, until: (Self.minute + 1) % 1_440) : nil
                    let isMentioned = mention == .user || mention == .all
                    let expected =
                        state == .joined && !isGone && !isMuted && !isQuiet && !isRead && !isSilent && (isMentioned || !mentionsOnly)
                    let result = PushRules.notify(
                        member, of: event, isSilent: isSilent, mentionsOnly: mentionsOnly, quietHours: quiet, at: Self.time)
                    #expect(result == expected, "\(state) \(isGone) \(isMuted) \(isQuiet) \(isRead) \(mention)")
                    notified += result ? 1 : 0
                }
            }
        }
        #expect(notified == (isSilent ? 0 : mentionsOnly ? 2 : 4))
    }

    private static let flags: [(Bool, Bool, Bool, Bool)] = (0..<16).map { bits in
        (bits & 1 != 0, bits & 2 != 0, bits & 4 != 0, bits & 8 != 0)
    }

    @Test(arguments: [(3, 4, true), (4, 3, true), (5, 4, false), (4, 5, false), (5, 5, false), (0, 0, true)] as [(Int64, Int64, Bool)])
    func aMessageAboveTheReadPositionAndTheFloorIsNew(read: Int64, floor: Int64, isNew: Bool) {
        var member = MemberRow(address: MemberAddress(ConversationKey(1), UserKey(2)), role: .member, state: .joined)
        (member.readN, member.floorN) = (read, floor)
        let event = EventRow(conversation: ConversationKey(1), seq: 9, n: 5, sender: UserKey(1), at: Self.time, kind: .text, body: "{}")
        #expect(PushRules.notify(member, of: event, isSilent: false, mentionsOnly: false, quietHours: nil, at: Self.time) == isNew)
    }

    @Test(arguments: [EventState.normal, .edited, .recalled, .expired, .erased, .unknown]) func aMessageWithoutContentIsNotNotified(
        state: EventState
    ) {
        let member = MemberRow(address: MemberAddress(ConversationKey(1), UserKey(2)), role: .member, state: .joined)
        var event = EventRow(conversation: ConversationKey(1), seq: 9, n: 5, sender: UserKey(1), at: Self.time, kind: .text, body: "{}")
        event.state = state
        let isNotified = PushRules.notify(member, of: event, isSilent: false, mentionsOnly: false, quietHours: nil, at: Self.time)
        #expect(isNotified == !state.isBlank)
    }

    /// The quiet hours of a day, minute by minute, compared with their definition.
    @Test(arguments: [(0, 0), (0, 1), (0, 1_439), (1_439, 0), (1_439, 1), (1_320, 420), (420, 1_320), (720, 720)] as [(Int64, Int64)])
    func quietHoursContainTheirMinutes(from: Int64, until: Int64) {
        let hours = QuietHours(from: from, until: until)
        var expected: Set<Int64> = []
        var minute = from
        while minute != until {
            expected.insert(minute)
            minute = (minute + 1) % 1_440
        }
        for minute in 0..<1_440 as Range<Int64> {
            let start = 19_000 * 86_400_000 + minute * 60_000
            #expect(hours.contains(start) == expected.contains(minute) && hours.contains(start + 59_999) == expected.contains(minute))
        }
    }
}

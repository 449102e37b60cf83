import ApusChatProtocol
import ApusChatStorage
import Testing

@testable import ApusChatCore

@Suite struct PushRulesTests {
    private static let time: Int64 = 1_790_000_000_000
    private static let conversation = ConversationKey(1)

    private func member(_ configure: (inout MemberRow) -> Void = { _ in }) -> MemberRow {
        var member = MemberRow(
            address: MemberAddress(Self.conversation, UserKey(2)), role: .member, state: .joined)
        configure(&member)
        return member
    }

    private func event(_ configure: (inout EventRow) -> Void = { _ in }) -> EventRow {
        var event = EventRow(conversation: Self.conversation, seq: 9, n: 5, sender: UserKey(1), at: Self.time, kind: .text, body: "{}")
        configure(&event)
        return event
    }

    private func notifies(
        _ member: MemberRow, _ event: EventRow, isSilent: Bool = false, mentionsOnly: Bool = false, quiet: QuietHours? = nil
    ) -> Bool {
        PushRules.notify(member, of: event, isSilent: isSilent, mentionsOnly: mentionsOnly, quietHours: quiet, at: Self.time)
    }

    @Test func requestsAreReportedToOwnersAndAdmins() {
        func notifies(_ role: MemberRole, quiet: QuietHours? = nil, _ configure: (inout MemberRow) -> Void = { _ in }) -> Bool {
            let member = self.member {
                $0.role = role
                configure(&$0)
            }
            return PushRules.notifyOfRequests(member, quietHours: quiet, at: Self.time)
        }
        #expect(notifies(.owner) && notifies(.admin))
        for role in [MemberRole.member, .reader, .guest, .unknown] { #expect(!notifies(role), "\(role)") }
        #expect(!notifies(.owner) { $0.mutedUntil = Self.time + 1 })
        #expect(notifies(.owner) { $0.mutedUntil = Self.time })
        #expect(!notifies(.owner) { $0.notifiesMentionsOnly = true })
        #expect(!notifies(.owner) { $0.isGone = true })
        #expect(!notifies(.admin) { $0.state = .left })
        let minute = (Self.time / 60_000) % 1_440
        #expect(!notifies(.owner, quiet: QuietHours(from: minute, until: (minute + 1) % 1_440)))
        #expect(notifies(.owner, quiet: QuietHours(from: (minute + 1) % 1_440, until: (minute + 2) % 1_440)))
    }

    @Test func anUnreadMessageOfAnotherUserIsReported() { #expect(self.notifies(self.member(), self.event())) }

    @Test func otherEventsAreNot() {
        let member = self.member()
        #expect(!self.notifies(member, self.event(), isSilent: true))
        #expect(!self.notifies(member, self.event { $0.n = 0 }))
        #expect(!self.notifies(member, self.event { $0.sender = UserKey(2) }))
        #expect(!self.notifies(member, self.event { $0.state = .recalled }))
        #expect(!self.notifies(self.member { $0.readN = 5 }, self.event()))
        #expect(!self.notifies(self.member { $0.floorN = 5 }, self.event()))
        #expect(!self.notifies(self.member { $0.state = .left }, self.event()))
        #expect(!self.notifies(self.member { $0.isGone = true }, self.event()))
    }

    @Test func aMutedConversationDisclosesNothing() {
        #expect(!self.notifies(self.member { $0.mutedUntil = Self.time + 1 }, self.event { $0.mentions = [UserKey(2)] }))
        #expect(self.notifies(self.member { $0.mutedUntil = Self.time }, self.event()))
    }

    @Test func aRuleOfMentionsNotifiesOfMentionsOnly() {
        let member = self.member()
        #expect(!self.notifies(member, self.event { $0.mentions = [UserKey(3)] }, mentionsOnly: true))
        #expect(self.notifies(member, self.event { $0.mentions = [UserKey(3), UserKey(2)] }, mentionsOnly: true))
        #expect(self.notifies(member, self.event { $0.mentionsAll = true }, mentionsOnly: true))
    }

    @Test(
        arguments: [
            (0 as Int64, 60 as Int64, 30 as Int64, true), (0, 60, 60, false), (1_380, 420, 1_400, true), (1_380, 420, 0, true),
            (1_380, 420, 420, false), (1_380, 420, 720, false), (300, 300, 300, false),
        ])
    func quietHoursMaySpanMidnight(from: Int64, until: Int64, minute: Int64, isQuiet: Bool) {
        let hours = QuietHours(from: from, until: until)
        #expect(hours.contains(20_000 * 86_400_000 + minute * 60_000) == isQuiet)
    }
}

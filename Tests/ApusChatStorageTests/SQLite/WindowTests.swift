import ApusChatProtocol
import ApusChatStorage
import Testing

@testable import ApusChatSQLite

/// The numbers of rows that one read examines, at their limits.
@Suite struct WindowTests {
    /// One page of the directory examines a number of conversations. A page without a match has a
    /// successor while there are further conversations.
    @Test func aPageOfTheDirectoryIsBounded() throws {
        let world = try StorageWorld(.sqlite)
        let window = Int64(DirectoryPage.window)
        try world.write { changes in
            changes.conversations = (1...window + 1).map { number in
                world.new(ConversationKey(10_000 + number), .channel) { row in
                    row.settings.listed = true
                    row.profile.title = number == 1 ? "first" : "other"
                }
            }
        }
        let page = try world.storage.listedConversations(containing: "first", after: nil, limit: 9)
        #expect(page.conversations.isEmpty && page.next != nil)
        let rest = try world.storage.listedConversations(containing: "first", after: page.next, limit: 9)
        #expect(rest.conversations.map(\.key.rawValue) == [10_001] && rest.next == nil)
        // A full page ends before the window.
        let full = try world.storage.listedConversations(containing: "other", after: nil, limit: 2)
        #expect(full.conversations.map(\.key.rawValue) == [10_001 + window, 10_000 + window] && full.next != nil)
    }

    /// One page of the events of a sender examines a number of events.
    @Test(arguments: StorageKind.allCases, [SenderPage.window - 1, SenderPage.window, SenderPage.window + 1])
    func aPageOfASenderIsBounded(_ kind: StorageKind, _ others: Int64) throws {
        let world = try StorageWorld(kind)
        let group = try world.group(1, world.ann, world.bob)
        try world.append(Int(others), to: group, by: world.bob)
        try world.append(to: group, by: world.ann)
        func page(_ after: Int64) throws -> SenderPage {
            try world.storage.events(of: group, by: world.ann, after: after, changes: false, limit: 9)
        }
        let found = SenderPage(events: [EventAddress(group, others + 1)], next: nil)
        #expect(try page(0) == (others < SenderPage.window ? found : SenderPage(events: [], next: SenderPage.window)))
        #expect(try page(SenderPage.window) == (others < SenderPage.window ? SenderPage(events: [], next: nil) : found))
        #expect(try page(.min) == page(0) && page(others + 1) == SenderPage(events: [], next: nil))
    }

    /// At most 1,001 members who do not see an event are returned, whatever the reason is.
    @Test(
        arguments: StorageKind.allCases,
        [(0, 0), (500, 500), (501, 500), (500, 501), (1_000, 0), (1_001, 0), (0, 1_002), (700, 700)] as [(late: Int, hidden: Int)])
    func theMembersWhoDoNotSeeAnEventAreBounded(_ kind: StorageKind, _ counts: (late: Int, hidden: Int)) throws {
        let world = try StorageWorld(kind)
        let group = try world.group(1, world.ann)
        try world.append(2, to: group, by: world.ann)
        let event = EventAddress(group, 1)
        let users = (0..<counts.late + counts.hidden).map { UserKey(Int64(100 + $0)) }
        try world.write { changes in
            for (index, user) in users.enumerated() {
                var row = MemberRow(address: MemberAddress(group, user), role: .member, state: .joined)
                if index < counts.late { row.minSeq = 2 }
                changes.members.append(row)
                guard index >= counts.late else { continue }
                var hidden = AnnotationRow(address: AnnotationAddress(event, user), n: 1)
                hidden.isHidden = true
                changes.annotations.append(hidden)
            }
        }
        let unseen = try #require(try world.facts { $0.unseen = [event] }.unseen[event])
        #expect(unseen.count == min(users.count, Facts.maximumUnseen + 1) && unseen == unseen.sorted())
        #expect(Set(unseen).isSubset(of: users))
    }

    /// The next owners are at most nine members, the owner among them.
    @Test(arguments: StorageKind.allCases, [1, 8, 9, 10, 20]) func successorsAreBounded(_ kind: StorageKind, _ count: Int64) throws {
        let world = try StorageWorld(kind)
        let group = try world.group(1, world.ann)
        try world.write { changes in
            changes.members = (1...count).map {
                MemberRow(address: MemberAddress(group, UserKey(200 - $0)), role: $0 % 2 == 0 ? .admin : .reader, state: .joined)
            }
        }
        let facts = try world.facts { $0.successors = [group] }
        let admins = stride(from: count, through: 1, by: -1).filter { $0 % 2 == 0 }.map { UserKey(200 - $0) }
        let readers = stride(from: count, through: 1, by: -1).filter { $0 % 2 == 1 }.map { UserKey(200 - $0) }
        let expected = Array(([world.ann] + admins + readers).prefix(9))
        #expect(facts.successors[group] == expected)
        for user in expected { #expect(facts.members[MemberAddress(group, user)] != nil && facts.accounts.isLoaded(user)) }
    }

    /// A few messages are counted, which corrects a wrong stored number. The number above a
    /// position far from the end is derived from the stored one.
    @Test func aWrongNumberOfSkippedMessagesIsCorrectedNearTheEnd() throws {
        let world = try StorageWorld(.sqlite)
        let group = try world.group(1, world.ann, world.bob)
        // Each tenth message is of the member.
        try world.append(1_200, to: group, by: world.ann) { event, _ in if event.seq % 10 == 0 { event.sender = world.bob } }
        try world.modify(world.bob, group) { ($0.readN, $0.skipped) = (400, 777) }
        func skipped(above n: Int64) throws -> Int64? {
            let need = SkipNeed(member: MemberAddress(group, world.bob), above: n)
            return try world.facts { $0.skips = [need] }.skips[need]
        }
        #expect(try skipped(above: 700) == 50 && skipped(above: 1_199) == 1 && skipped(above: 1_200) == 0)
        #expect(try skipped(above: 699) == 777 - 29 && skipped(above: 400) == 777)
        // The messages before the read position are counted from the end.
        #expect(try skipped(above: 399) == 81 && skipped(above: 0) == 120 && skipped(above: -5) == 120)
    }

    /// At most 1,000 pinned messages are shown, the newest first.
    @Test func pinsAreBounded() throws {
        let world = try StorageWorld(.sqlite)
        let group = try world.group(1, world.ann)
        try world.append(1_001, to: group, by: world.ann) { event, _ in event.isPinned = true }
        #expect(try world.head(world.ann, group)?.pins == Array((2...1_001 as ClosedRange<Int64>).reversed()))
        #expect(try world.seqs(group, .pinned, as: world.ann, limit: 9_999).count == 1_000)
    }
}

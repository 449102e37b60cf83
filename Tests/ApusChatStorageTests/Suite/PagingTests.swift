import ApusChatProtocol
import ApusChatStorage
import Testing

/// Each list, read in pages of every size: the pages add up to the list, whether its last page is
/// full, short or empty.
@Suite struct PagingTests {
    /// A list of the storage with the numbers of its rows, and a function that reads it to its end.
    private struct List {
        let name: String
        let expected: [Int64]
        /// Whether a full last page has no successor.
        var endsWithItsLastRow = true
        let pages: (_ limit: Int) throws -> [[Int64]]
    }

    /// Reads a list that returns where its next page begins.
    private static func pages<Cursor>(_ read: (Cursor?) throws -> (keys: [Int64], next: Cursor?)) throws -> [[Int64]] {
        var pages: [[Int64]] = []
        var cursor: Cursor?
        repeat {
            let page = try read(cursor)
            pages.append(page.keys)
            cursor = page.next
        } while cursor != nil && pages.count < 100
        return pages
    }

    /// Reads a list that is continued after its last row, until a page is short.
    private static func pages(of limit: Int, _ read: (Int64?) throws -> [Int64]) throws -> [[Int64]] {
        try self.pages { (cursor: Int64?) in
            let keys = try read(cursor)
            return (keys, keys.count == limit ? keys.last : nil)
        }
    }

    private let people = Array(60...65 as ClosedRange<Int64>)
    private let rooms = Array(1...6 as ClosedRange<Int64>)
    private let room = ConversationKey(1)

    /// Six rows of each kind.
    private func world(_ kind: StorageKind) throws -> (world: StorageWorld, position: SyncPosition) {
        let world = try StorageWorld(kind)
        for key in self.people { try world.addAccount(UserKey(key), "p\(key)", nickname: "Guest") }
        let position = try world.storage.position()
        for key in self.rooms { try world.group(key, world.ann) { $0.settings.listed = true } }
        try world.write { changes in
            changes.members = self.people.map {
                var row = MemberRow(address: MemberAddress(self.room, UserKey($0)), role: .admin, state: .joined)
                row.readN = 3
                return row
            }
            changes.contacts = self.people.map {
                var row = ContactRow(address: ContactAddress(owner: world.ann, peer: UserKey($0)))
                row.relation = .friend
                return row
            }
        }
        try world.append(to: self.room, by: world.ann)
        for index in 0..<6 {
            try world.append(to: self.room, by: world.bob) { event, _ in
                (event.thread, event.body, event.expiresAt, event.closesAt) = (1, #"{"text":"needle"}"#, 5, 5)
            }
            try world.append(to: self.room, by: world.ann, kind: .edit, ref: 1)
            try world.annotate(UserKey(self.people[index]), EventAddress(self.room, 1)) { $0.reactions = ["+"] }
        }
        for (key, time) in [(3, 10), (5, 20)] as [(Int64, Int64)] {
            try world.modify(world.ann, ConversationKey(key)) { $0.pinnedAt = time }
        }
        return (world, position)
    }

    /// The log of the room: a message, and six times a reply and an edit.
    private let replies: [Int64] = [2, 4, 6, 8, 10, 12]
    private let edits: [Int64] = [3, 5, 7, 9, 11, 13]

    private func lists(_ world: StorageWorld, after position: SyncPosition) -> [List] {
        let storage = world.storage
        func key(_ number: Int64?) -> UserKey? { number.map { UserKey($0) } }
        func events(_ limit: Int, from first: Int64, _ selection: @escaping (Int64) -> EventSelection) throws -> [[Int64]] {
            try Self.pages(of: limit) { last in
                try storage.events(in: self.room, selection((last ?? first - 1) + 1), as: world.ann, limit: limit).map(\.seq)
            }
        }
        return [
            List(name: "heads", expected: [5, 3, 1, 2, 4, 6, 1_011]) { limit in
                try Self.pages { (cursor: HeadsCursor?) in
                    let page = try storage.heads(of: world.ann, after: cursor, limit: limit)
                    return (page.heads.map(\.conversation.key.rawValue), page.next)
                }
            },
            List(name: "changes", expected: self.rooms) { limit in
                try Self.pages { (cursor: ConversationKey?) in
                    guard case .page(let rows, let next) = try storage.changes(of: world.ann, after: position, cursor: cursor, limit: limit)
                    else { return ([], nil) }
                    return (rows.map(\.conversation.key.rawValue), next)
                }
            },
            List(name: "members", expected: [11] + self.people) { limit in
                try Self.pages { (cursor: UserKey?) in
                    let page = try storage.members(of: self.room, in: [.joined, .banned], after: cursor, limit: limit)
                    return (page.members.map(\.address.user.rawValue), page.next)
                }
            },
            List(name: "members by name", expected: self.people) { limit in
                try Self.pages { (cursor: UserKey?) in
                    let page = try storage.members(of: self.room, in: .joined, containing: "GUEST", after: cursor, limit: limit)
                    #expect(page.total == 6)
                    return (page.members.map(\.address.user.rawValue), page.next)
                }
            },
            List(name: "accounts", expected: [11, 12, 13] + self.people) { limit in
                try Self.pages(of: limit) { try storage.accounts(after: key($0), limit: limit).map(\.key.rawValue) }
            },
            List(name: "accounts by name", expected: self.people) { limit in
                try Self.pages(of: limit) { try storage.accounts(containing: "p6", after: key($0), limit: limit).map(\.key.rawValue) }
            },
            List(name: "contacts", expected: self.people) { limit in
                try Self.pages(of: limit) { try storage.contacts(of: world.ann, after: key($0), limit: limit).map(\.address.peer.rawValue) }
            },
            List(name: "reactions", expected: self.people) { limit in
                try Self.pages(of: limit) { last in
                    try storage.reactions(to: EventAddress(self.room, 1), of: "+", after: key(last), limit: limit)
                        .map(\.address.user.rawValue)
                }
            },
            List(name: "memberships", expected: self.rooms + [1_011]) { limit in
                try Self.pages(of: limit) { last in
                    try storage.memberships(of: world.ann, after: last.map { ConversationKey($0) }, limit: limit).map(\.rawValue)
                }
            },
            List(name: "directory", expected: self.rooms.reversed(), endsWithItsLastRow: false) { limit in
                try Self.pages { (cursor: Int64?) in
                    let page = try storage.listedConversations(containing: "", after: cursor, limit: limit)
                    return (page.conversations.map(\.key.rawValue), page.next)
                }
            },
            List(name: "events", expected: Array(1...13)) { limit in try events(limit, from: 1) { .from($0) } },
            List(name: "replies", expected: self.replies) { limit in try events(limit, from: 1) { .thread(1, from: $0) } },
            List(name: "last events", expected: Array((1...13).reversed())) { limit in
                try Self.pages(of: limit) { last in
                    try storage.events(in: self.room, .through((last ?? 14) - 1), as: world.ann, limit: limit).map(\.seq).reversed()
                }
            },
            List(name: "last replies", expected: self.replies.reversed()) { limit in
                try Self.pages(of: limit) { last in
                    try storage.events(in: self.room, .threadEnd(1, through: (last ?? .max) - 1), as: world.ann, limit: limit)
                        .map(\.seq).reversed()
                }
            },
            List(name: "events of a sender", expected: self.replies, endsWithItsLastRow: false) { limit in
                try Self.pages { (cursor: Int64?) in
                    let page = try storage.events(of: self.room, by: world.bob, after: cursor ?? 0, changes: true, limit: limit)
                    return (page.events.map(\.seq), page.next)
                }
            },
            List(name: "search", expected: self.replies.reversed(), endsWithItsLastRow: false) { limit in
                try Self.pages { (cursor: Int64?) in
                    let page = try world.search("needle", as: world.ann, limit: limit) { $0.cursor = cursor }
                    return (page.hits.map(\.view.seq), page.next)
                }
            },
        ]
    }

    @Test(arguments: StorageKind.allCases) func pagesAddUpToTheList(_ kind: StorageKind) throws {
        let (world, position) = try self.world(kind)
        for list in self.lists(world, after: position) {
            for limit in [1, 2, 3, list.expected.count - 1, list.expected.count, list.expected.count + 1] {
                let pages = try list.pages(limit)
                #expect(Array(pages.joined()) == list.expected, "\(list.name) in pages of \(limit)")
                #expect(pages.dropLast().allSatisfy { $0.count == limit }, "\(list.name) in pages of \(limit)")
                if list.endsWithItsLastRow { #expect(pages.count <= list.expected.count / limit + 1, "\(list.name) in pages of \(limit)") }
            }
        }
    }

    /// A limit of 0 returns nothing, instead of everything.
    @Test(arguments: StorageKind.allCases) func aLimitOfZeroReturnsNothing(_ kind: StorageKind) throws {
        let (world, position) = try self.world(kind)
        for list in self.lists(world, after: position) { #expect(try list.pages(0).joined().isEmpty, "\(list.name)") }
    }

    /// A list that says where its next page begins has no page after a full last one.
    @Test(arguments: StorageKind.allCases) func aFullLastPageHasNoSuccessor(_ kind: StorageKind) throws {
        let (world, position) = try self.world(kind)
        for list in self.lists(world, after: position) where ["heads", "changes", "members", "members by name"].contains(list.name) {
            let count = list.expected.count
            for limit in [1, count, count + 1] { #expect(try list.pages(limit).count == (count + limit - 1) / limit, "\(list.name)") }
        }
    }

    /// Nothing follows the last row, and nothing is in an unknown place.
    @Test(arguments: StorageKind.allCases) func anEmptyPageIsTheLast(_ kind: StorageKind) throws {
        let (world, _) = try self.world(kind)
        let storage = world.storage
        let nowhere = ConversationKey(99)
        let last = try storage.heads(of: world.ann, after: nil, limit: 100).heads.last?.cursor
        #expect(try storage.heads(of: world.ann, after: last, limit: 5) == HeadsPage(heads: [], next: nil))
        #expect(try storage.heads(of: UserKey(99), after: nil, limit: 5) == HeadsPage(heads: [], next: nil))
        #expect(
            try storage.changes(of: world.ann, after: storage.position(), cursor: nil, limit: 5) == .page([], next: nil))
        let members = try storage.members(of: self.room, in: .joined, after: UserKey(65), limit: 5)
        #expect(members.members.isEmpty && members.next == nil)
        #expect(
            try storage.members(of: nowhere, in: .joined, after: nil, limit: 5) == MembersPage(members: [], next: nil, version: 0, total: 0)
        )
        #expect(try storage.contacts(of: world.ann, after: UserKey(65), limit: 5).isEmpty)
        #expect(try storage.reactions(to: EventAddress(self.room, 1), of: "-", after: nil, limit: 5).isEmpty)
        #expect(try storage.reactions(to: EventAddress(nowhere, 1), of: nil, after: nil, limit: 5).isEmpty)
        #expect(try storage.listedConversations(containing: "none", after: nil, limit: 5).conversations.isEmpty)
        for selection in [EventSelection.from(14), .through(0), .thread(1, from: 13), .threadEnd(1, through: 1), .edits(of: 2), .pinned] {
            #expect(try world.seqs(self.room, selection, as: world.ann) == [], "\(selection)")
            #expect(try world.seqs(nowhere, selection, as: world.ann) == [], "\(selection)")
        }
        // The number 0 marks events outside of threads. It names no thread.
        #expect(try world.seqs(self.room, .thread(0, from: 1), as: world.ann) == [])
        #expect(try world.seqs(self.room, .threadEnd(0, through: .max), as: world.ann) == [])
    }

    /// A page with a limit is the beginning of the whole list.
    @Test(arguments: StorageKind.allCases) func aLimitTakesTheBeginning(_ kind: StorageKind) throws {
        let (world, _) = try self.world(kind)
        let storage = try #require(world.storage as? any AccountStorage)
        let scheduled = try self.rooms.map {
            ScheduledRow(
                address: ScheduledAddress(world.ann, try #require(ClientID("s\($0)"))), conversation: self.room, kind: .text, body: "{}",
                sendAt: 10 - $0 / 2, hash: RequestHash(1, 2, 3, 4))
        }
        try world.write { changes in
            changes.links = self.rooms.map { LinkRow(code: "code\($0)", conversation: self.room, creator: world.ann, createdAt: $0 / 2) }
            changes.scheduled = scheduled
            changes.credentials.devices = self.rooms.map {
                DeviceRow(key: DeviceKey($0), user: world.ann, name: "d", platform: "web", at: $0 / 2)
            }
            changes.credentials.pushes = self.rooms.map { (DeviceKey($0), "{}") }
        }
        for key in self.rooms.map({ ConversationKey($0) }) {
            var counters = try world.counters(key)
            (counters.callSeq, counters.isDeleted) = (key.rawValue, key.rawValue % 2 == 0)
            try world.write { $0.conversations = [ConversationChange(key: key, counters: counters)] }
        }
        let accounts = try storage.accounts(self.people.map { UserKey($0) })
        try world.write { changes in
            changes.accounts = accounts.map {
                var row = $0
                row.state = .deleted
                return row
            }
        }
        func numbers(_ events: [EventAddress]) -> [Int64] { events.map { $0.conversation.rawValue << 8 | $0.seq } }
        let lists: [(name: String, expected: [Int64], read: (Int) throws -> [Int64])] = [
            ("staff", [11] + self.people, { try storage.staff(of: self.room, limit: $0).map(\.address.user.rawValue) }),
            ("readers", self.people, { try storage.readers(of: self.room, atLeast: 3, limit: $0).map(\.rawValue) }),
            ("links", [6, 4, 5, 2, 3, 1], { try storage.links(of: self.room, limit: $0).compactMap { Int64($0.code.dropFirst(4)) } }),
            (
                "scheduled", [6, 4, 5, 2, 3, 1],
                { try storage.scheduled(of: world.ann, limit: $0).compactMap { Int64($0.address.id.rawValue.dropFirst()) } }
            ),
            (
                "due", [6, 4, 5],
                { try storage.dueScheduled(at: 8, limit: $0).compactMap { Int64($0.address.id.rawValue.dropFirst()) } }
            ),
            ("calls", self.rooms.map { $0 << 8 | $0 }, { numbers(try storage.calls(limit: $0)) }),
            ("deleted rooms", [2, 4, 6], { try storage.deletedConversations(limit: $0).map(\.rawValue) }),
            ("deleted accounts", self.people, { try storage.deletedAccounts(limit: $0).map(\.rawValue) }),
            ("expired", self.replies.map { 256 | $0 }, { numbers(try storage.expired(at: 5, limit: $0)) }),
            ("ended", self.replies.map { 256 | $0 }, { numbers(try storage.endedPolls(at: 5, limit: $0)) }),
            ("old", ([1] + self.replies).map { 256 | $0 }, { numbers(try storage.events(of: self.room, before: .max, limit: $0)) }),
            ("edits", self.edits, { try world.seqs(self.room, .edits(of: 1), as: world.ann, limit: $0) }),
            ("devices", [6, 5, 4, 3, 2, 1], { try storage.devices(of: world.ann, limit: $0).map(\.key.rawValue) }),
            ("pushes", [6, 5, 4, 3, 2, 1], { try storage.pushDevices(of: world.ann, limit: $0).map(\.key.rawValue) }),
            ("all pushes", self.rooms, { try storage.pushDevices(after: DeviceKey(0), limit: $0).map(\.key.rawValue) }),
            ("later pushes", [5, 6], { try storage.pushDevices(after: DeviceKey(4), limit: $0).map(\.key.rawValue) }),
        ]
        for list in lists {
            let whole = try list.read(100)
            #expect(whole == list.expected, "\(list.name)")
            for limit in 0...list.expected.count + 1 {
                let page = try list.read(limit)
                #expect(page == Array(whole.prefix(limit)), "the first \(limit) of \(list.name)")
            }
        }
    }

    /// The times are bounds: a row is due at its time and not a millisecond before it.
    @Test(arguments: StorageKind.allCases) func aRowIsDueAtItsTime(_ kind: StorageKind) throws {
        let (world, _) = try self.world(kind)
        let storage = try #require(world.storage as? any AccountStorage)
        let blob = try #require(BlobID(String(repeating: "c", count: 64)))
        let id = try #require(ClientID("later"))
        try world.write { changes in
            changes.scheduled = [
                ScheduledRow(
                    address: ScheduledAddress(world.bob, id), conversation: self.room, kind: .text, body: "{}", sendAt: 5,
                    hash: RequestHash(1, 2, 3, 4))
            ]
            changes.credentials.uploads = [(BlobRow(id: blob, size: 1, type: "image/png", createdAt: 5), world.ann)]
        }
        for (time, isDue) in [(Int64.min, false), (4, false), (5, true), (6, true), (.max, true)] {
            #expect(try storage.expired(at: time, limit: 9).isEmpty == !isDue, "\(time)")
            #expect(try storage.endedPolls(at: time, limit: 9).isEmpty == !isDue, "\(time)")
            #expect(try storage.dueScheduled(at: time, limit: 9).isEmpty == !isDue, "\(time)")
            // A blob without references is kept as long as its time has not passed.
            #expect(try storage.orphans(before: time, after: 0, limit: 9).blobs.isEmpty == (time <= 5), "\(time)")
        }
        let first = try #require(try world.event(EventAddress(self.room, 1))?.at)
        #expect(try storage.events(of: self.room, before: first, limit: 9).isEmpty)
        #expect(try storage.events(of: self.room, before: first + 1, limit: 9).map(\.seq) == [1])
        for (n, count) in [(3, 6), (4, 0)] as [(Int64, Int)] {
            #expect(try storage.readers(of: self.room, atLeast: n, limit: 9).count == count)
        }
        try world.modify(world.ann, self.room) { $0.mutedUntil = 5 }
        #expect(try storage.badge(of: world.ann, at: 4) == 0, "muted")
        #expect(try storage.badge(of: world.ann, at: 5) == 7, "the silence ends at its time")
    }

    /// The pages of blobs cover the row numbers without a gap, also where rows were removed.
    @Test(arguments: StorageKind.allCases) func noBlobIsBetweenTwoPages(_ kind: StorageKind) throws {
        let world = try StorageWorld(kind)
        let storage = try #require(world.storage as? any AccountStorage)
        let blobs = try (1...9 as ClosedRange<Int64>).map { number in
            BlobRow(id: try #require(BlobID(String(repeating: "\(number)", count: 64))), size: number, type: "image/png", createdAt: number)
        }
        try world.write { $0.credentials.uploads = blobs.map { ($0, $0.size % 3 == 0 ? world.bob : world.ann) } }
        try world.write { $0.credentials.collectedBlobs = [blobs[3].id, blobs[4].id] }
        let kept = blobs.filter { $0.size != 4 && $0.size != 5 }
        for limit in 1...10 {
            let uploads = try Self.pages { (cursor: Int64?) in
                let page = try storage.uploads(of: world.ann, after: cursor ?? 0, limit: limit)
                return (page.blobs.map(\.size), page.next)
            }
            #expect(uploads.flatMap { $0 } == kept.map(\.size).filter { $0 % 3 != 0 }, "pages of \(limit)")
            // SQLite examines row numbers, so a page can have fewer rows than the limit.
            #expect(uploads.allSatisfy { $0.count <= limit })
            if kind == .sqlite { #expect(uploads.count <= (9 + limit - 1) / limit) }
            let orphans = try Self.pages { (cursor: Int64?) in
                let page = try storage.orphans(before: 9, after: cursor ?? 0, limit: limit)
                return (page.blobs.compactMap { Int64(String($0.rawValue.prefix(1))) }, page.next)
            }
            #expect(orphans.flatMap { $0 } == kept.map(\.size).filter { $0 < 9 }, "pages of \(limit)")
            #expect(orphans.allSatisfy { $0.count <= limit })
        }
    }

    /// The pages of a sender's events begin after any number.
    @Test(arguments: StorageKind.allCases) func eventsOfASenderBeginAfterAnyNumber(_ kind: StorageKind) throws {
        let world = try StorageWorld(kind)
        let group = try world.group(1, world.ann)
        try world.append(3, to: group, by: world.ann)
        for (seq, seqs) in [
            (Int64.min, [1, 2, 3]), (-1, [1, 2, 3]), (0, [1, 2, 3]), (2, [3]), (3, []), (4, []), (.max - 1, []), (.max, []),
        ]
            as [(Int64, [Int64])]
        {
            let page = try world.storage.events(of: group, by: world.ann, after: seq, changes: true, limit: 9)
            #expect(page.events.map(\.seq) == seqs && page.next == nil, "after \(seq)")
        }
    }
}

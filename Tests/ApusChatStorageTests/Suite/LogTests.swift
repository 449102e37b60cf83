import ApusChatProtocol
import ApusChatStorage
import Testing

/// Events as members see them.
@Suite struct LogTests {
    @Test(arguments: StorageKind.allCases) func aWindowIsReadFromBothEnds(_ kind: StorageKind) throws {
        let world = try StorageWorld(kind)
        let group = try world.group(1, world.ann)
        try world.group(2, world.ann)
        try world.append(10, to: group, by: world.ann)
        try world.append(3, to: ConversationKey(2), by: world.ann)
        #expect(try world.seqs(group, .from(1), as: world.ann) == Array(1...10))
        #expect(try world.seqs(group, .from(4), as: world.ann, limit: 3) == [4, 5, 6])
        #expect(try world.seqs(group, .through(6), as: world.ann, limit: 3) == [4, 5, 6])
        #expect(try world.seqs(group, .through(.max), as: world.ann, limit: 2) == [9, 10])
        #expect(try world.seqs(group, .from(.max), as: world.ann) == [])
        #expect(try world.seqs(group, .from(.min), as: world.ann, limit: 1) == [1])
        #expect(try world.seqs(group, .through(0), as: world.ann) == [])
        #expect(try world.seqs(group, .through(-5), as: world.ann) == [])
        #expect(try world.seqs(group, .from(1), as: world.ann, limit: 0) == [])
        #expect(try world.seqs(group, .from(1), as: world.eve) == [])
        #expect(try world.seqs(ConversationKey(9), .from(1), as: world.ann) == [])
    }

    /// The storage on disk enters new events in one table and moves them to another. A log is read
    /// the same way at each length, from each position and with each limit.
    @Test(arguments: StorageKind.allCases) func aGrowingLogIsReadFromEachPosition(_ kind: StorageKind) throws {
        let world = try StorageWorld(kind)
        let group = try world.group(1, world.ann)
        let other = try world.group(2, world.ann)
        for last in 1...14 {
            try world.append(to: last % 3 == 0 ? other : group, by: world.ann)
            try world.append(to: last % 3 == 0 ? group : other, by: world.ann)
            let all = Array(1...Int64(last))
            for limit in [1, 2, 5, 20] {
                for seq in all {
                    #expect(try world.seqs(group, .from(seq), as: world.ann, limit: limit) == Array(all.filter { $0 >= seq }.prefix(limit)))
                    #expect(
                        try world.seqs(group, .through(seq), as: world.ann, limit: limit) == Array(all.filter { $0 <= seq }.suffix(limit)))
                }
                #expect(try world.storage.events(of: group, before: .max, limit: limit).map(\.seq) == Array(all.prefix(limit)))
                let own = try world.storage.events(of: group, by: world.ann, after: 1, changes: false, limit: limit)
                #expect(own.events.map(\.seq) == Array(all.dropFirst().prefix(limit)))
            }
            for seq in all { #expect(try world.event(EventAddress(group, seq))?.body == #"{"text":"\#(seq)"}"#) }
            #expect(try world.event(EventAddress(group, Int64(last) + 1)) == nil)
        }
    }

    /// A batch writes a new event, changes one and blanks one, at each length of the log.
    @Test(arguments: StorageKind.allCases) func aBatchChangesEventsOfEachAge(_ kind: StorageKind) throws {
        let world = try StorageWorld(kind)
        let group = try world.group(1, world.ann)
        for last: Int64 in 1...14 {
            try world.append(to: group, by: world.ann)
            let changed = try (1...last).compactMap { try world.event(EventAddress(group, $0)) }
            // Batches with a change of the newest, of the oldest and of another event.
            for target in [last, 1, (last + 1) / 2] {
                try world.append(to: group, by: world.ann, kind: .edit, ref: target) { event, changes in
                    var target = changed[Int(target) - 1]
                    (target.editedAt, target.editSeq, target.state) = (world.now + event.seq, event.seq, .edited)
                    target.body = #"{"text":"at \#(event.seq)"}"#
                    changes.targets = [target]
                }
                let seq = try world.counters(group).lastSeq
                let event = try #require(try world.event(EventAddress(group, target)))
                #expect(event.editSeq == seq && event.body == #"{"text":"at \#(seq)"}"#)
                try world.append(to: group, by: world.ann, kind: .recall, ref: target) { event, changes in
                    changes.blanks = [EventBlank(address: EventAddress(group, seq), state: .recalled)]
                }
                #expect(try world.event(EventAddress(group, seq))?.state == .recalled)
                #expect(try world.event(EventAddress(group, seq + 1))?.state == .normal)
            }
        }
        let last = try world.counters(group).lastSeq
        #expect(try world.seqs(group, .from(1), as: world.ann, limit: 200) == Array(1...last))
    }

    @Test(arguments: StorageKind.allCases) func theVisibleRangeIsOneInterval(_ kind: StorageKind) throws {
        let world = try StorageWorld(kind)
        let group = try world.group(1, world.ann, world.bob)
        try world.append(10, to: group, by: world.ann)
        try world.modify(world.bob, group) { ($0.minSeq, $0.leftSeq, $0.state) = (3, 7, .left) }
        #expect(try world.seqs(group, .from(1), as: world.bob) == [3, 4, 5, 6, 7])
        #expect(try world.seqs(group, .through(.max), as: world.bob, limit: 2) == [6, 7])
        #expect(try world.seqs(group, .through(2), as: world.bob) == [])
        for state in [MemberState.invited, .requested, .banned] {
            try world.modify(world.bob, group) { $0.state = state }
            #expect(try world.seqs(group, .from(1), as: world.bob) == [])
        }
    }

    @Test(arguments: StorageKind.allCases) func aHiddenMessageKeepsItsPlace(_ kind: StorageKind) throws {
        let world = try StorageWorld(kind)
        let group = try world.group(1, world.ann, world.bob)
        try world.append(3, to: group, by: world.ann)
        try world.append(to: group, by: world.ann, kind: .edit, ref: 2)
        try world.append(to: group, by: world.ann, kind: .edit, ref: 1)
        try world.annotate(world.bob, EventAddress(group, 2)) { $0.isHidden = true }
        #expect(try world.seqs(group, .from(1), as: world.bob) == [1, -2, 3, -4, 5])
        #expect(try world.seqs(group, .from(1), as: world.ann) == [1, 2, 3, 4, 5])
        // The target is not in the page.
        #expect(try world.seqs(group, .from(4), as: world.bob) == [-4, 5])
        #expect(try world.seqs(group, .edits(of: 2), as: world.bob) == [])
        let hidden = try world.storage.events(in: group, .from(2), as: world.bob, limit: 1)
        #expect(hidden == [EventView(seq: 2, n: 2, row: nil)])
    }

    @Test(arguments: StorageKind.allCases) func theUsersWhoReactedAreListed(_ kind: StorageKind) throws {
        let world = try StorageWorld(kind)
        let group = try world.group(1, world.ann, world.bob, world.eve)
        try world.append(2, to: group, by: world.ann)
        let event = EventAddress(group, 1)
        try world.annotate(world.ann, event) { $0.reactions = ["+"] }
        try world.annotate(world.bob, event) { $0.isHidden = true }
        try world.annotate(world.eve, event) { $0.reactions = ["-", "+"] }
        try world.annotate(world.bob, EventAddress(group, 2)) { $0.reactions = ["+"] }
        func users(_ key: String?, after cursor: UserKey? = nil, limit: Int = 9) throws -> [UserKey] {
            try world.storage.reactions(to: event, of: key, after: cursor, limit: limit).map(\.address.user)
        }
        #expect(try users(nil) == [world.ann, world.eve])
        #expect(try users("+") == [world.ann, world.eve])
        #expect(try users("-") == [world.eve])
        #expect(try users("x") == [])
        #expect(try users(nil, limit: 1) == [world.ann])
        #expect(try users("-", limit: 1) == [world.eve])
        #expect(try users(nil, after: world.ann) == [world.eve])
        #expect(try world.storage.reactions(to: event, of: nil, after: nil, limit: 9)[1].reactions == ["-", "+"])
        #expect(try world.storage.reactions(to: EventAddress(ConversationKey(9), 1), of: nil, after: nil, limit: 9) == [])
    }

    @Test(arguments: StorageKind.allCases) func theDirectoryHasListedConversations(_ kind: StorageKind) throws {
        let world = try StorageWorld(kind)
        for number in 1...5 {
            try world.group(Int64(number), world.ann) { row in
                row.createdAt += Int64(number)
                (row.profile.title, row.profile.about) = ("Club \(number)", number == 3 ? "for 上海" : "")
                row.settings.listed = number != 2
                row.counters.isDeleted = number == 4
            }
        }
        func titles(_ text: String = "") throws -> [String] {
            try world.storage.listedConversations(containing: text, after: nil, limit: 9).conversations.map(\.profile.title)
        }
        #expect(try titles() == ["Club 5", "Club 3", "Club 1"])
        #expect(try titles("CLUB 1") == ["Club 1"])
        #expect(try titles("海") == ["Club 3"])
        #expect(try titles("none") == [])
        let page = try world.storage.listedConversations(containing: "club", after: nil, limit: 2)
        #expect(page.conversations.map(\.profile.title) == ["Club 5", "Club 3"])
        let rest = try world.storage.listedConversations(containing: "club", after: page.next, limit: 2)
        #expect(rest.conversations.map(\.profile.title) == ["Club 1"] && rest.next == nil)
        // A conversation leaves the list with its setting.
        let key = ConversationKey(1)
        var row = try #require(try world.head(world.ann, key)).conversation
        row.settings.listed = false
        try world.write { $0.conversations = [ConversationChange(key: key, counters: row.counters, row: row)] }
        #expect(try titles() == ["Club 5", "Club 3"])
    }

    @Test(arguments: StorageKind.allCases) func threadsEditsAndPinsAreFound(_ kind: StorageKind) throws {
        let world = try StorageWorld(kind)
        let group = try world.group(1, world.ann, world.bob)
        try world.append(2, to: group, by: world.ann)
        for _ in 1...4 { try world.append(to: group, by: world.ann) { event, _ in event.thread = 1 } }
        try world.append(2, to: group, by: world.ann, kind: .edit, ref: 2)
        try world.append(to: group, by: world.ann, kind: .react, ref: 2)
        try world.annotate(world.bob, EventAddress(group, 4)) { $0.isHidden = true }
        #expect(try world.seqs(group, .thread(1, from: 0), as: world.ann) == [3, 4, 5, 6])
        #expect(try world.seqs(group, .thread(1, from: 4), as: world.ann, limit: 2) == [4, 5])
        #expect(try world.seqs(group, .thread(1, from: 0), as: world.bob, limit: 2) == [3, 5])
        #expect(try world.seqs(group, .thread(2, from: 0), as: world.ann) == [])
        #expect(try world.seqs(group, .edits(of: 2), as: world.ann) == [7, 8])
        #expect(try world.seqs(group, .edits(of: 1), as: world.ann) == [])
        for seq in [1, 5, 3] { try world.change(EventAddress(group, Int64(seq))) { $0.isPinned = true } }
        #expect(try world.seqs(group, .pinned, as: world.ann) == [5, 3, 1])
        #expect(try world.seqs(group, .pinned, as: world.ann, limit: 2) == [5, 3])
    }

    @Test(arguments: StorageKind.allCases) func aBlankEventLosesEverything(_ kind: StorageKind) throws {
        let world = try StorageWorld(kind)
        let group = try world.group(1, world.ann, world.bob)
        let blob = try #require(BlobID(String(repeating: "0a", count: 32)))
        try world.append(to: group, by: world.ann) { event, changes in
            event.expiresAt = 50
            event.mentions = [world.bob]
            changes.blobReferences = [BlobReference(event: event.address, blob: blob)]
        }
        try world.append(to: group, by: world.ann, kind: .edit, ref: 1)
        let address = EventAddress(group, 1)
        try world.change(address) { event in
            (event.editedAt, event.state, event.original, event.isPinned) = (3, .edited, "original", true)
            event.reactions = [ReactionCount(key: "+", count: 1)]
        }
        let first = try #require(try world.event(address)).firstForm
        #expect(first.body == "original" && first.state == .normal && first.editedAt == 0)
        try world.annotate(world.bob, address) { $0.reactions = ["+"] }
        try world.annotate(world.eve, address) { ($0.isHidden, $0.votes) = (true, 1) }
        #expect(try world.storage.mayRead(BlobNeed(user: world.bob, blob: blob)))
        try world.write { $0.blanks = [EventBlank(address: address, state: .recalled)] }
        let event = try #require(try world.event(address))
        #expect(event.firstForm == event)
        #expect(event.state == .recalled && event.body.isEmpty && event.original.isEmpty && event.reactions.isEmpty)
        #expect(event.mentions.isEmpty && !event.isPinned && event.expiresAt == 0)
        #expect(try world.event(EventAddress(group, 2))?.body == "")
        #expect(try !world.storage.mayRead(BlobNeed(user: world.bob, blob: blob)))
        let annotations = [world.bob, world.eve].map { AnnotationAddress(address, $0) }
        let facts = try world.facts { $0.annotations = annotations }
        #expect(facts.annotations[annotations[0]] == nil)
        #expect(facts.annotations[annotations[1]]?.isHidden == true && facts.annotations[annotations[1]]?.votes == 0)
        #expect(try world.storage.expired(at: 100, limit: 9) == [])
        #expect(try world.seqs(group, .from(1), as: world.bob) == [1, 2])
    }

    @Test(arguments: StorageKind.allCases) func aBlankTextBlanksItsPreviewsAndNoOthers(_ kind: StorageKind) throws {
        let world = try StorageWorld(kind)
        let group = try world.group(1, world.ann, world.bob)
        try world.append(2, to: group, by: world.ann)
        for ref in [1, 2, 1] {
            try world.append(to: group, by: world.ann, kind: .preview, ref: Int64(ref)) { event, _ in event.body = "{}" }
        }
        try world.write { $0.blanks = [EventBlank(address: EventAddress(group, 1), state: .recalled)] }
        for (seq, isBlank) in [(1, true), (2, false), (3, true), (4, false), (5, true)] {
            let event = try #require(try world.event(EventAddress(group, Int64(seq))))
            #expect(event.state == (isBlank ? .recalled : .normal) && event.body.isEmpty == isBlank, "\(seq)")
        }
        #expect(try world.seqs(group, .edits(of: 1), as: world.ann) == [], "a preview is no edit")
    }

    @Test(arguments: StorageKind.allCases) func ownAnnotationsComeWithTheEvents(_ kind: StorageKind) throws {
        let world = try StorageWorld(kind)
        let group = try world.group(1, world.ann, world.bob)
        try world.append(2, to: group, by: world.ann)
        try world.annotate(world.bob, EventAddress(group, 2)) { ($0.reactions, $0.votes) = (["a", "\u{1F44D}"], 1 << 63) }
        let own = try world.storage.events(in: group, .from(1), as: world.bob, limit: 9).map(\.own)
        #expect(own.first == .some(nil))
        #expect(own.last??.reactions == ["a", "\u{1F44D}"] && own.last??.votes == 1 << 63)
        #expect(try world.storage.events(in: group, .from(2), as: world.ann, limit: 9).first?.own == nil)
        try world.annotate(world.bob, EventAddress(group, 2)) { ($0.reactions, $0.votes) = ([], 0) }
        #expect(try world.storage.events(in: group, .from(2), as: world.bob, limit: 9).first?.own == nil)
    }

    @Test(arguments: StorageKind.allCases) func theEndOfAThreadIsRead(_ kind: StorageKind) throws {
        let world = try StorageWorld(kind)
        let group = try world.group(1, world.ann, world.bob)
        try world.append(9, to: group, by: world.ann) { event, _ in event.thread = event.seq % 2 == 0 ? 1 : 0 }
        try world.annotate(world.bob, EventAddress(group, 6)) { $0.isHidden = true }
        #expect(try world.seqs(group, .threadEnd(1, through: .max), as: world.ann) == [2, 4, 6, 8])
        #expect(try world.seqs(group, .threadEnd(1, through: .max), as: world.ann, limit: 2) == [6, 8])
        #expect(try world.seqs(group, .threadEnd(1, through: 7), as: world.ann, limit: 2) == [4, 6])
        #expect(try world.seqs(group, .threadEnd(1, through: .max), as: world.bob, limit: 2) == [4, 8], "hidden replies do not count")
        #expect(try world.seqs(group, .threadEnd(1, through: 1), as: world.bob) == [])
        #expect(try world.seqs(group, .threadEnd(3, through: .max), as: world.bob) == [])
        try world.modify(world.bob, group) { $0.minSeq = 5 }
        #expect(try world.seqs(group, .threadEnd(1, through: .max), as: world.bob) == [8])
    }

    @Test(arguments: StorageKind.allCases) func endedPollsAreFoundUntilTheyAreClosed(_ kind: StorageKind) throws {
        let world = try StorageWorld(kind)
        let group = try world.group(1, world.ann)
        try world.append(3, to: group, by: world.ann, kind: .poll) { event, _ in event.closesAt = 100 - event.seq }
        try world.append(to: group, by: world.ann, kind: .poll)
        #expect(try world.storage.endedPolls(at: 98, limit: 9).map(\.seq) == [3, 2])
        #expect(try world.storage.endedPolls(at: 99, limit: 1).map(\.seq) == [3])
        #expect(try world.event(EventAddress(group, 3))?.closesAt == 97)
        try world.change(EventAddress(group, 3)) { $0.isClosed = true }
        try world.write { $0.blanks = [EventBlank(address: EventAddress(group, 2), state: .recalled)] }
        #expect(try world.storage.endedPolls(at: .max, limit: 9).map(\.seq) == [1])
    }

    @Test(arguments: StorageKind.allCases) func expiryAndRetentionFindTheOldestFirst(_ kind: StorageKind) throws {
        let world = try StorageWorld(kind)
        let group = try world.group(1, world.ann)
        try world.append(4, to: group, by: world.ann) { event, _ in event.expiresAt = 100 - event.seq }
        try world.append(to: group, by: world.ann, kind: .react, ref: 1)
        #expect(try world.storage.expired(at: 98, limit: 9).map(\.seq) == [4, 3, 2])
        #expect(try world.storage.expired(at: 98, limit: 1).map(\.seq) == [4])
        #expect(try world.storage.expired(at: 1, limit: 9) == [])
        let limit = world.now + 4
        #expect(try world.storage.events(of: group, before: limit, limit: 9).map(\.seq) == [1, 2, 3])
        for seq in [3, 1] { try world.write { $0.blanks = [EventBlank(address: EventAddress(group, Int64(seq)), state: .expired)] } }
        #expect(try world.storage.events(of: group, before: limit, limit: 9).map(\.seq) == [2])
        try world.write { $0.blanks = [EventBlank(address: EventAddress(group, 2), state: .expired)] }
        #expect(try world.storage.events(of: group, before: .max, limit: 9).map(\.seq) == [4])
        #expect(try world.storage.events(of: ConversationKey(9), before: .max, limit: 9) == [])
    }
}

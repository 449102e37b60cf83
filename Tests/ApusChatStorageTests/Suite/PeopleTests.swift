import ApusChatProtocol
import ApusChatStorage
import Testing

@testable import ApusChatSQLite

/// Members, accounts, contacts and blobs.
@Suite struct PeopleTests {
    @Test(arguments: StorageKind.allCases) func membersArePagedInKeyOrder(_ kind: StorageKind) throws {
        let world = try StorageWorld(kind)
        let group = try world.group(1, world.ann) { $0.counters.membersVersion = 3 }
        let states: [MemberState] = [.joined, .invited, .requested, .left, .removed, .banned]
        try world.write { changes in
            changes.members = (0..<12).map { index in
                MemberRow(address: MemberAddress(group, UserKey(50 + Int64(index))), role: .member, state: states[index % 6])
            }
        }
        func keys(_ states: MemberStates, size: Int) throws -> [Int64] {
            var keys: [Int64] = []
            var cursor: UserKey?
            repeat {
                let page = try world.storage.members(of: group, in: states, after: cursor, limit: size)
                #expect(page.version == 3 && page.members.count <= size)
                keys += page.members.map(\.address.user.rawValue)
                cursor = page.next
            } while cursor != nil
            return keys
        }
        for size in [1, 2, 100] {
            #expect(try keys([.joined], size: size) == [11, 50, 56])
            #expect(try keys([.joined, .invited, .requested], size: size) == [11, 50, 51, 52, 56, 57, 58])
            #expect(try keys([.banned], size: size) == [55, 61])
        }
        try world.modify(UserKey(50), group) { $0.state = .banned }
        #expect(try keys([.joined], size: 2) == [11, 56])
        #expect(try world.storage.members(of: ConversationKey(9), in: [.joined], after: nil, limit: 5).members == [])
    }

    @Test(arguments: StorageKind.allCases) func aRemovedFolderLeavesAllConversations(_ kind: StorageKind) throws {
        let world = try StorageWorld(kind)
        let (group, other) = (try world.group(1, world.ann, world.bob), try world.group(2, world.ann))
        try world.modify(world.ann, group) { $0.folders = 0b110 }
        try world.modify(world.ann, other) { $0.folders = 0b001 }
        try world.modify(world.bob, group) { $0.folders = 0b010 }
        let commit = try world.write { $0.folderRemovals = [FolderRemoval(user: world.ann, folders: 0b010)] }
        func member(_ user: UserKey, _ key: ConversationKey) throws -> MemberRow? { try world.storage.head(of: user, in: key)?.member }
        #expect(try member(world.ann, group)?.folders == 0b100)
        #expect(try member(world.ann, group)?.changed == commit)
        #expect(try member(world.ann, other)?.folders == 0b001 && member(world.ann, other)?.changed != commit)
        #expect(try member(world.bob, group)?.folders == 0b010)
        // The cached rows of the writer change as well.
        let facts = try world.facts { $0.members = [MemberAddress(group, world.ann)] }
        #expect(facts.members[MemberAddress(group, world.ann)]?.folders == 0b100)
        // A row in the same batch overrides the removal.
        try world.write { changes in
            changes.folderRemovals = [FolderRemoval(user: world.ann, folders: 0b100)]
            changes.members = facts.members[MemberAddress(group, world.ann)].map { [$0] } ?? []
            changes.members[0].folders = 0b100
        }
        #expect(try member(world.ann, group)?.folders == 0b100)
    }

    @Test func foldersOfEarlierVersionsHaveTheirPlaces() {
        let folders = ListText.folders(#"["Work",["New","unread"],["Club",null,7]]"#)
        #expect(folders.map(\.slot) == [0, 1, 7])
        #expect(folders.map(\.folder) == [Folder(name: "Work"), Folder(name: "New", filter: "unread"), Folder(name: "Club")])
    }

    @Test(arguments: StorageKind.allCases) func activeAccountsAreListedInPages(_ kind: StorageKind) throws {
        let world = try StorageWorld(kind)
        let before = try world.storage.accounts(after: nil, limit: 100).map(\.key)
        try world.addAccount(UserKey(130), "martha")
        try world.addAccount(UserKey(131), "closed") { $0.state = .suspended }
        try world.addAccount(UserKey(132), "wang")
        #expect(try world.storage.accounts(after: nil, limit: 100).map(\.key) == (before + [UserKey(130), UserKey(132)]).sorted())
        #expect(try world.storage.accounts(after: UserKey(129), limit: 1).map(\.key) == [UserKey(130)])
        #expect(try world.storage.accounts(after: UserKey(130), limit: 9).map(\.key) == [UserKey(132)])
        #expect(try world.storage.accounts(after: UserKey(132), limit: 9).isEmpty)
    }

    @Test(arguments: StorageKind.allCases) func membersAreFoundByAnyPartOfTheName(_ kind: StorageKind) throws {
        let world = try StorageWorld(kind)
        try world.addAccount(UserKey(30), "martha", nickname: "王小明")
        try world.addAccount(UserKey(31), "arthur")
        try world.addAccount(UserKey(32), "outsider", nickname: "Martha")
        try world.addAccount(UserKey(33), "art", nickname: "closed") { $0.state = .deleted }
        let group = try world.group(1, world.ann, UserKey(30), UserKey(31), UserKey(33))
        try world.write { $0.members = [MemberRow(address: MemberAddress(group, world.bob), role: .member, state: .banned)] }
        func found(_ text: String?, _ states: MemberStates = .joined, after cursor: Int64? = nil, limit: Int = 9) throws -> [Int64] {
            let page = try world.storage.members(
                of: group, in: states, containing: text, after: cursor.map(UserKey.init), limit: limit)
            #expect((page.next != nil) == (page.members.count == limit && limit < Int(page.total)))
            return page.members.map(\.address.user.rawValue) + [page.total]
        }
        #expect(try found("ART") == [30, 31, 2])
        #expect(try found("art", limit: 1) == [30, 2], "the total is that of all pages")
        #expect(try found("art", after: 30) == [31, 2])
        #expect(try found("小") == [30, 1])
        #expect(try found("zzz") == [0])
        #expect(try found("") == [0], "the wire has no empty search")
        #expect(try found(nil) == [11, 30, 31, 33, 4])
        #expect(try found("bo", .banned) == [12, 1])
        #expect(try found(nil, .banned) == [12, 1])
    }

    @Test(arguments: StorageKind.allCases) func theBadgeLeavesMutedConversationsOut(_ kind: StorageKind) throws {
        let world = try StorageWorld(kind)
        for key in 1...4 as ClosedRange<Int64> {
            let group = try world.group(key, world.ann, world.bob)
            try world.append(Int(key), to: group, by: world.ann)
        }
        #expect(try world.storage.badge(of: world.bob, at: 100) == 10)
        try world.modify(world.bob, ConversationKey(1)) { $0.readN = 1 }
        try world.modify(world.bob, ConversationKey(2)) { $0.mutedUntil = 101 }
        #expect(try world.storage.badge(of: world.bob, at: 100) == 7)
        #expect(try world.storage.badge(of: world.bob, at: 101) == 9)
        try world.modify(world.bob, ConversationKey(3)) { $0.isGone = true }
        try world.modify(world.bob, ConversationKey(4)) { ($0.state, $0.leftSeq) = (.left, 4) }
        #expect(try world.storage.badge(of: world.bob, at: 101) == 2)
        #expect(try world.storage.badge(of: world.eve, at: 0) == 0)
    }

    @Test(arguments: StorageKind.allCases) func requestsOfContactsKeepTheirTextAndTime(_ kind: StorageKind) throws {
        let world = try StorageWorld(kind)
        var row = ContactRow(address: ContactAddress(owner: world.bob, peer: world.ann))
        (row.relation, row.text, row.at) = (.requested, "We met 🛶", 1_700_000_000_000)
        row.changed = try world.write { $0.contacts = [row] }
        #expect(try world.storage.contacts(of: world.bob, after: nil, limit: 9) == [row])
    }

    @Test(arguments: StorageKind.allCases) func readersAndConversationsAreOfJoinedMembers(_ kind: StorageKind) throws {
        let world = try StorageWorld(kind)
        let group = try world.group(1, world.ann, world.bob, world.eve)
        try world.group(2, world.bob)
        for (user, read) in [(world.ann, 3), (world.bob, 2), (world.eve, 5)] { try world.modify(user, group) { $0.readN = Int64(read) } }
        #expect(try world.storage.readers(of: group, atLeast: 3, limit: 9) == [world.ann, world.eve])
        #expect(try world.storage.readers(of: group, atLeast: 1, limit: 2) == [world.ann, world.bob])
        #expect(try world.storage.conversations(of: world.bob).map(\.rawValue) == [1, 2, 1_012])
        try world.modify(world.bob, group) { $0.state = .left }
        #expect(try world.storage.conversations(of: world.bob).map(\.rawValue) == [2, 1_012])
        #expect(try world.storage.readers(of: group, atLeast: 0, limit: 9) == [world.ann, world.eve])
    }

    @Test(arguments: StorageKind.allCases) func namesAreLookedUp(_ kind: StorageKind) throws {
        let world = try StorageWorld(kind)
        let names = ["bob", "zed", "ann"].map { UserName(prepared: $0) }
        #expect(try world.storage.userKeys(named: names) == [world.bob, nil, world.ann])
        #expect(try world.storage.userKeys(named: []) == [])
    }

    @Test(arguments: StorageKind.allCases) func peopleAreFoundByAnyPartOfTheName(_ kind: StorageKind) throws {
        let world = try StorageWorld(kind)
        try world.addAccount(UserKey(30), "m.müller", nickname: "Martha Müller-Lüdenscheidt")
        try world.addAccount(UserKey(31), "wang", nickname: "王小明")
        try world.addAccount(UserKey(32), "closed", nickname: "Martha") { $0.state = .suspended }
        try world.addAccount(UserKey(33), "grin", nickname: "\u{1F600}* \"x\" OR martha")
        func found(_ text: String, after cursor: Int64? = nil, limit: Int = 9) throws -> [Int64] {
            try world.storage.accounts(containing: text, after: cursor.map(UserKey.init), limit: limit).map(\.key.rawValue)
        }
        #expect(try found("MARTHA") == [30, 33])
        #expect(try found("r-lü") == [30])
        #expect(try found("t") == [30, 33])
        #expect(try found("tt") == [])
        #expect(try found("dt") == [30])
        #expect(try found("a m") == [30])
        #expect(try found("小") == [31])
        #expect(try found("小明") == [31])
        #expect(try found("明小") == [])
        #expect(try found("\u{1F600}") == [33])
        #expect(try found("\"x\"") == [33])
        #expect(try found("*") == [33])
        #expect(try found("an", limit: 1) == [11])
        #expect(try found("an", after: 11) == [31])
        // A new nickname replaces the old one in the index.
        var row = try #require(try world.storage.accounts([UserKey(31)]).first)
        row.nickname = "Sophie"
        try world.write { $0.accounts = [row] }
        #expect(try found("小") == [])
        #expect(try found("oph") == [31])
        #expect(try found("wan") == [31])
    }

    /// Names are stored in their composed form. A query can have another one: marks that follow
    /// their letters, or letters of double width.
    @Test(arguments: StorageKind.allCases) func aQueryInAnotherFormFindsNames(_ kind: StorageKind) throws {
        let world = try StorageWorld(kind)
        let (huong, lee, kana) = (UserKey(30), UserKey(31), UserKey(32))
        try world.addAccount(huong, "hương", nickname: "Nguyễn Hương")
        try world.addAccount(lee, "lee", nickname: "이서연 ABC")
        try world.addAccount(kana, "kana", nickname: "ガギグ 1/2")
        let group = try world.group(1, world.ann, huong, lee, kana) { row in
            (row.settings.listed, row.profile.title, row.profile.about) = (true, "Đà Nẵng カフェ", "Ｐａｒｔｙ und Übung")
        }
        let queries: [(String, UserKey)] = [
            ("hu\u{31B}o\u{31B}ng", huong), ("HU\u{31B}O\u{31B}NG", huong), ("Nguye\u{302}\u{303}n", huong), ("ｎｇｕｙ", huong),
            ("\u{1109}\u{1165}", lee), ("ＡＢ", lee), ("ａｂｃ", lee), ("ｶﾞｷﾞ", kana), ("ギ", kana), ("キ\u{3099}", kana), ("1/2", kana),
        ]
        for (text, user) in queries {
            #expect(try world.storage.accounts(containing: text, after: nil, limit: 9).map(\.key) == [user], "\(text)")
            let page = try world.storage.members(of: group, in: .joined, containing: text, after: nil, limit: 9)
            #expect(page.members.map(\.address.user) == [user] && page.total == 1, "\(text)")
        }
        for text in ["Đa\u{300}", "ｶﾌｪ", "ｐａｒｔｙ", "Ｐａｒｔｙ", "U\u{308}bung", "übung", "Nẵng"] {
            let found = try world.storage.listedConversations(containing: text, after: nil, limit: 9).conversations.map(\.key)
            #expect(found == [group], "\(text)")
        }
    }

    /// A part consists of Unicode scalars, and can end within a character as users see it: a letter
    /// without its vowel sign, or an emoji without its skin tone.
    @Test(arguments: StorageKind.allCases) func aPartEndsWithinACharacter(_ kind: StorageKind) throws {
        let world = try StorageWorld(kind)
        let (thai, hindi, emoji, long) = (UserKey(30), UserKey(31), UserKey(32), UserKey(33))
        try world.addAccount(thai, "สวัสดี", nickname: "Thai")
        try world.addAccount(hindi, "hindi", nickname: "किताब")
        try world.addAccount(emoji, "emoji", nickname: "Team 👍🏽 👨\u{200D}👩")
        try world.addAccount(long, "long", nickname: String(repeating: "z", count: 64))
        let group = try world.group(1, world.ann, thai, hindi, emoji, long) { row in
            (row.settings.listed, row.profile.title, row.profile.about) = (true, "สวัสดี", "किताब 👍🏽 Cafe\u{301}")
        }
        let parts: [(String, UserKey?)] = [
            ("สวัสด", thai), ("ว", thai), ("\u{E31}ส", thai), ("क", hindi), ("कि", hindi), ("ताब", hindi), ("👍", emoji), ("🏽", emoji),
            ("👍🏽", emoji), ("👩", emoji), ("👨", emoji), ("ℌin", hindi), (String(repeating: "z", count: 64), long),
            (String(repeating: "z", count: 65) + "more", long), ("คิ", nil), ("", nil),
        ]
        for (text, user) in parts {
            let users = user.map { [$0] } ?? []
            #expect(try world.storage.accounts(containing: text, after: nil, limit: 9).map(\.key) == users, "\(text)")
            let page = try world.storage.members(of: group, in: .joined, containing: text, after: nil, limit: 9)
            #expect(page.members.map(\.address.user) == users && page.total == Int64(users.count), "\(text)")
        }
        for (text, isFound) in [
            ("สวัสด", true), ("ว", true), ("क", true), ("👍", true), ("🏽", true), ("caf\u{E9}", true), ("cafe\u{301}", true), ("cafe", false),
        ] {
            let found = try world.storage.listedConversations(containing: text, after: nil, limit: 9).conversations
            #expect(found.map(\.key) == (isFound ? [group] : []), "\(text)")
        }
    }

    @Test(arguments: StorageKind.allCases) func contactsArePagedInKeyOrder(_ kind: StorageKind) throws {
        let world = try StorageWorld(kind)
        let addresses = [world.eve, world.bob].map { ContactAddress(owner: world.ann, peer: $0) }
        try world.write { changes in
            changes.contacts = addresses.map { address in
                var row = ContactRow(address: address)
                (row.relation, row.alias, row.isBlocked) = (.friend, "alias", address.peer == world.eve)
                return row
            }
        }
        let page = try world.storage.contacts(of: world.ann, after: nil, limit: 9)
        #expect(page.map(\.address.peer) == [world.bob, world.eve])
        #expect(page.map(\.isBlocked) == [false, true] && page.map(\.relation) == [.friend, .friend])
        #expect(try world.storage.contacts(of: world.ann, after: world.bob, limit: 9).map(\.address.peer) == [world.eve])
        #expect(try world.storage.contacts(of: world.bob, after: nil, limit: 9) == [])
        let facts = try world.facts { $0.contacts = [addresses[0], addresses[0].reversed] }
        #expect(facts.contacts[addresses[0]]?.alias == "alias")
        #expect(facts.contacts[addresses[0].reversed] == nil)
    }

    @Test(arguments: StorageKind.allCases) func aBlobIsReadableThroughAVisibleMessage(_ kind: StorageKind) throws {
        let world = try StorageWorld(kind)
        let group = try world.group(1, world.ann, world.bob)
        let blob = try #require(BlobID(String(repeating: "cd", count: 32)))
        try world.append(to: group, by: world.ann) { event, changes in
            changes.blobReferences = [BlobReference(event: event.address, blob: blob)]
        }
        func mayRead(_ user: UserKey) throws -> Bool { try world.storage.mayRead(BlobNeed(user: user, blob: blob)) }
        #expect(try mayRead(world.ann) && mayRead(world.bob))
        #expect(try !mayRead(world.eve))
        #expect(try world.facts { $0.blobs = [BlobNeed(user: world.bob, blob: blob)] }.readableBlobs.count == 1)
        #expect(try world.facts { $0.blobs = [BlobNeed(user: world.eve, blob: blob)] }.readableBlobs.isEmpty)
        try world.modify(world.bob, group) { $0.minSeq = 2 }
        #expect(try !mayRead(world.bob))
        try world.modify(world.bob, group) { $0.minSeq = 1 }
        // A former member may read the blob unless the membership is required.
        func mayReadAsMember() throws -> Bool {
            try world.storage.mayRead(BlobNeed(user: world.bob, blob: blob, asMember: true))
        }
        #expect(try mayReadAsMember())
        try world.modify(world.bob, group) { ($0.state, $0.leftSeq) = (.removed, 1) }
        #expect(try mayRead(world.bob) && !mayReadAsMember())
        try world.modify(world.bob, group) { ($0.state, $0.leftSeq) = (.joined, 0) }
        try world.annotate(world.bob, EventAddress(group, 1)) { $0.isHidden = true }
        #expect(try !mayRead(world.bob))
    }
}

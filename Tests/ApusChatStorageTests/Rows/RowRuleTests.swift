import ApusChatProtocol
import ApusChatStorage
import Testing

/// The rules of rows and needs that storages and decisions share.
@Suite struct RowRuleTests {
    private let address = MemberAddress(ConversationKey(1), UserKey(2))

    // MARK: Members

    /// A ban without an end lasts; another one ends at its time.
    @Test(arguments: [
        (MemberState.banned, Int64(0), Int64(5), true), (.banned, 5, 4, true), (.banned, 5, 5, false), (.banned, 5, 6, false),
        (.banned, 0, .max, true), (.left, 0, 5, false), (.joined, 9, 5, false), (.removed, 9, 5, false), (.unknown, 9, 5, false),
    ])
    func aBanEndsAtItsTime(state: MemberState, until: Int64, time: Int64, isBanned: Bool) {
        var row = MemberRow(address: self.address, role: .member, state: state)
        row.bannedUntil = until
        #expect(row.isBanned(at: time) == isBanned)
    }

    @Test func onlyJoinedMembersHaveUnreadMessages() {
        for state in MemberState.allCases {
            var row = MemberRow(address: self.address, role: .member, state: state)
            (row.readN, row.floorN, row.skipped) = (3, 5, 1)
            #expect(row.unread(lastN: 9) == (state == .joined ? 3 : 0), "\(state)")
            #expect(row.unread(lastN: 5) == 0 && row.unread(lastN: 0) == 0, "\(state)")
            row.skipped = 99
            #expect(row.unread(lastN: 9) == 0, "a wrong number of skipped messages is not negative")
        }
    }

    @Test func eachRoleHasItsRank() {
        let roles: [MemberRole] = [.unknown, .guest, .reader, .member, .admin, .owner]
        #expect(roles.map(\.rank) == Array(0...5) && Set(roles) == Set(MemberRole.allCases))
    }

    @Test(arguments: [(Int64(0), false), (1, true), (.max, true)]) func aBlockHasAPosition(seq: Int64, isBlocked: Bool) {
        var row = MemberRow(address: self.address, role: .member, state: .joined)
        row.blockSeq = seq
        #expect(row.blocksPeer == isBlocked)
    }

    /// Each state has its set, except those of former members.
    @Test func eachStateHasItsSet() {
        let sets: [(MemberStates, MemberState)] = [(.joined, .joined), (.invited, .invited), (.requested, .requested), (.banned, .banned)]
        for (set, own) in sets {
            for state in MemberState.allCases { #expect(set.includes(state) == (state == own), "\(state) in \(own)") }
        }
        let all: MemberStates = [.joined, .invited, .requested, .banned]
        for state in [MemberState.left, .removed, .unknown] {
            #expect(!all.includes(state) && !MemberStates(rawValue: .max).includes(state))
        }
        for state in MemberState.allCases { #expect(!MemberStates().includes(state)) }
    }

    // MARK: Events

    private func event(_ n: Int64 = 1) -> EventRow {
        EventRow(conversation: ConversationKey(1), seq: 4, n: n, sender: UserKey(2), at: 100, kind: .text, body: #"{"text":"apple pie"}"#)
    }

    /// The first form of an edited message is its original. A blank message has none.
    @Test func theFirstFormIsBeforeTheEdits() {
        var row = self.event()
        #expect(row.firstForm == row, "it was not edited")
        let sent = row
        (row.original, row.body, row.state, row.editedAt, row.editSeq) = (row.body, "{}", .edited, 5, 6)
        var expected = sent
        expected.original = sent.body
        #expect(row.firstForm == expected)
        for state in [EventState.recalled, .expired, .erased] {
            row.state = state
            #expect(row.firstForm == row)
        }
    }

    @Test func anAnnotationIsEmptyWithoutContent() {
        let empty = AnnotationRow(address: AnnotationAddress(self.event().address, UserKey(2)), n: 1)
        #expect(empty.isEmpty)
        for change in [{ $0.isHidden = true }, { $0.reactions = [""] }, { $0.votes = 1 << 63 }] as [(inout AnnotationRow) -> Void] {
            var row = empty
            change(&row)
            #expect(!row.isEmpty)
        }
    }

    /// Changes and messages without content have no text.
    @Test func onlyMessagesHaveATextToSearch() {
        #expect(self.event().searchText == "apple pie" && self.event(0).searchText == nil)
        for state in EventState.allCases {
            var row = self.event()
            row.state = state
            #expect((row.searchText == nil) == state.isBlank, "\(state)")
        }
        for body in ["", "[]", "{", "null", "{}", #"{"text":5}"#] {
            var row = self.event()
            row.body = body
            #expect(row.searchText == nil, "\(body)")
        }
    }

    // MARK: Searches

    private func need(_ words: String, configure: (inout SearchNeed) -> Void = { _ in }) -> SearchNeed {
        var need = SearchNeed(words: SearchWords(words))
        configure(&need)
        return need
    }

    /// Each restriction is compared at its edges.
    @Test func eachRestrictionAdmitsItsMessages() {
        let restrictions: [((inout SearchNeed) -> Void, Bool)] = [
            ({ _ in }, true), ({ $0.sender = UserKey(2) }, true), ({ $0.sender = UserKey(3) }, false), ({ $0.kinds = [.text] }, true),
            ({ $0.kinds = [.image] }, false), ({ $0.kinds = [.image, .text] }, true), ({ $0.from = 99 }, true), ({ $0.from = 100 }, true),
            ({ $0.from = 101 }, false), ({ $0.until = 101 }, true), ({ $0.until = 100 }, true), ({ $0.until = 99 }, false),
            ({ ($0.from, $0.until) = (100, 100) }, true), ({ ($0.from, $0.until) = (.min, .max) }, true),
            ({ ($0.sender, $0.kinds) = (UserKey(2), [.image]) }, false),
        ]
        for (index, restriction) in restrictions.enumerated() {
            let need = self.need("apple", configure: restriction.0)
            #expect(need.admits(self.event()) == restriction.1, "restriction \(index)")
            #expect(!need.admits(self.event(0)), "a change, restriction \(index)")
        }
    }

    /// A search without words lists messages only with a conversation and kinds.
    @Test func aListingNeedsAConversationAndKinds() {
        let (key, kinds) = (ConversationKey(1), [EventKind.text])
        #expect(self.need("") { ($0.conversation, $0.kinds) = (key, kinds) }.isListing)
        #expect(self.need("...") { ($0.conversation, $0.kinds) = (key, kinds) }.isListing, "no word")
        #expect(!self.need("a") { ($0.conversation, $0.kinds) = (key, kinds) }.isListing)
        #expect(!self.need("") { $0.conversation = key }.isListing && !self.need("") { $0.kinds = kinds }.isListing)
        let listing = self.need("") { ($0.conversation, $0.kinds) = (key, kinds) }
        var row = self.event()
        row.body = "{}"
        #expect(listing.matches(row) && !self.need("apple").matches(row), "a message without text is listed")
        #expect(self.need("apple").matches(self.event()) && !self.need("").matches(self.event()))
        #expect(!listing.matches(self.event(0)))
        row.blank(.recalled)
        #expect(!listing.matches(row))
    }

    // MARK: The directory

    @Test(arguments: [
        ("", true), ("tea", true), ("TEA", true), ("ea cl", true), ("Ｔｅａ", true), ("for all", true), ("FOR", true), ("teas", false),
        ("club for", false), (" ", true), ("é", true), ("e\u{301}", true),
    ])
    func aConversationIsFoundByItsTexts(text: String, isFound: Bool) {
        var row = ConversationRow(key: ConversationKey(1), kind: .channel, createdAt: 1, settings: ConversationSettings())
        (row.profile.title, row.profile.about) = ("Tea Club", "For all, in a café")
        #expect(row.isFound(by: text) == isFound)
    }

    // MARK: Keys

    @Test func aReversedAddressIsThatOfThePeer() {
        let address = ContactAddress(owner: UserKey(1), peer: UserKey(2))
        #expect(address.reversed == ContactAddress(owner: UserKey(2), peer: UserKey(1)) && address.reversed.reversed == address)
        #expect(address != address.reversed)
    }

    /// Hashes that differ in one bit differ, and their bytes are in the order of the words.
    @Test func eachBitOfAHashCounts() throws {
        let zero = RequestHash(0, 0, 0, 0)
        for bit in 0..<256 {
            var bytes = [UInt8](repeating: 0, count: 32)
            bytes[bit / 8] = 0x80 >> UInt8(bit % 8)
            let hash = try #require(RequestHash(bytes: bytes))
            #expect(hash != zero && hash.bytes == bytes, "bit \(bit)")
            let words = [hash.words.0, hash.words.1, hash.words.2, hash.words.3]
            #expect(words.enumerated().allSatisfy { $1 == ($0 == bit / 64 ? 1 << UInt64(63 - bit % 64) : 0) }, "bit \(bit)")
        }
        for count in [0, 1, 31, 33, 64] { #expect(RequestHash(bytes: [UInt8](repeating: 1, count: count)) == nil) }
    }
}

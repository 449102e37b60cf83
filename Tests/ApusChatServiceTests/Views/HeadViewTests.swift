import ApusChatProtocol
import ApusChatStorage
import ApusJSON
import Testing

@testable import ApusChatService

/// The heads of conversations that the server sends.
@Suite struct HeadViewTests {
    private let settings =
        #"{"write":"members","invite":"members","manage":"admins","pin":"admins","mention_all":"admins","join":"closed","listed":false,"history":"all","slow":0,"expire":0,"receipts":true}"#

    private func world(
        _ kind: ConversationKind = .group, members: [Int64] = [1, 2], texts: [String] = ["one", "two", "three"],
        row: (inout ConversationRow) -> Void = { _ in }, member: (inout MemberRow) -> Void = { _ in }
    ) throws -> ViewWorld {
        let world = try ViewWorld()
        try world.conversation(
            7, kind, members: members, texts: texts,
            row: {
                if kind == .group { $0.profile.title = "Rowing" }
                row(&$0)
            },
            member: { if $0.address.user == UserKey(2) { member(&$0) } })
        return world
    }

    /// Returns Bob's head of the conversation.
    private func head(_ world: ViewWorld) throws -> ChatHead {
        try world.context(of: 2).head(try #require(world.storage.head(of: UserKey(2), in: ConversationKey(7))))
    }

    private let last = #"{"seq":3,"n":3,"sender":"alice","at":13,"kind":"text","text":"three"}"#

    @Test func aGroup() throws {
        let world = try self.world(
            row: {
                $0.counters.membersVersion = 5
                $0.counters.callSeq = 2
            },
            member: {
                $0.readN = 1
                $0.minSeq = 2
                $0.pinnedAt = 9
                $0.mutedUntil = 50
                $0.silencedUntil = 60
                $0.isArchived = true
                $0.isMarkedUnread = true
                $0.notifiesMentionsOnly = true
            })
        let own = #"{"pinned_at":9,"archived":true,"muted_until":50,"notify":"mentions","marked_unread":true}"#
        #expect(
            try self.head(world).json
                == wire(
                    #"""
                    {"conv":"\#(conversationText(7))","kind":"group","title":"Rowing","members":2,"members_version":5,
                    "settings":\#(self.settings),"seq":3,"n":3,"min_seq":2,"read":1,"unread":2,"at":13,"last":\#(self.last),"call":2,"silenced_until":60,
                    "own":\#(own)}
                    """#))
    }

    /// A pair has no title, no number of members and, unless messages disappear, no settings.
    @Test func aPair() throws {
        let world = try self.world(.pair)
        let peer = #"{"name":"alice","nick":"Alice"}"#
        let start =
            #"{"conv":"\#(conversationText(7))","kind":"pair","peer":\#(peer),"seq":3,"n":3,"unread":3,"at":13,"last":\#(self.last)"#
        #expect(try self.head(world).json == wire(start + "}"))
        let disappearing = try self.world(.pair, row: { $0.settings.expire = 60 })
        let settings = self.settings.replacing(#""expire":0"#, with: #""expire":60"#)
        #expect(try self.head(disappearing).json == wire(start + #","settings":\#(settings)}"#))
    }

    @Test func theRoleOfTheViewerIsShown() throws {
        for role in [MemberRole.owner, .admin, .reader, .guest] {
            #expect(try self.head(self.world(member: { $0.role = role })).json["role"] == .string(role.rawValue))
        }
        #expect(try self.head(self.world()).json["role"] == nil, "a member")
    }

    // MARK: States

    /// An invited, a requesting and a banned user see no part of the log.
    @Test(arguments: [(MemberState.invited, true), (.requested, false), (.banned, false)])
    func aUserOutsideSeesTheTitleOnly(state: MemberState, hasInviter: Bool) throws {
        let world = try self.world(
            row: { $0.counters.callSeq = 3 },
            member: {
                $0.state = state
                $0.since = 44
                $0.invitedBy = UserKey(1)
                $0.pinnedAt = 3
            })
        let inviter = hasInviter ? #","peer":{"name":"alice","nick":"Alice"}"# : ""
        #expect(
            try self.head(world).json
                == wire(
                    #"{"conv":"\#(conversationText(7))","kind":"group","state":"\#(state.rawValue)","title":"Rowing","members":2,"seq":0,"n":0,"at":44\#(inviter)}"#
                ))
    }

    @Test func anInvitationWithoutAnInviterHasNoPeer() throws {
        #expect(try self.head(self.world(member: { $0.state = .invited })).peer == nil)
    }

    /// The log and the counters in the head of a former member end where the member left.
    @Test(arguments: [MemberState.left, .removed]) func aFormerMemberSeesTheLogUpToTheEnd(state: MemberState) throws {
        let world = try self.world(
            row: {
                $0.counters.membersVersion = 9
                $0.counters.callSeq = 3
            },
            member: {
                $0.state = state
                $0.since = 44
                $0.leftSeq = 2
                $0.readN = 1
            })
        let last = #"{"seq":2,"n":2,"sender":"alice","at":12,"kind":"text","text":"two"}"#
        #expect(
            try self.head(world).json
                == wire(
                    #"""
                    {"conv":"\#(conversationText(7))","kind":"group","state":"\#(state.rawValue)","title":"Rowing","members":2,
                    "settings":\#(self.settings),"seq":2,"n":2,"read":2,"at":44,"last":\#(last)}
                    """#))
    }

    @Test func aFormerMemberWhoSawNothingHasNoLog() throws {
        let world = try self.world(member: {
            $0.state = .left
            $0.minSeq = 3
            $0.leftSeq = 2
        })
        let head = try self.head(world)
        #expect(head.seq == 0 && head.n == 0 && head.last == nil && head.settings == nil)
    }

    // MARK: Parts

    @Test func aNewMemberHasReadUpToTheJoin() throws {
        let head = try self.head(self.world(member: { $0.floorN = 2 }))
        #expect(head.read == 2 && head.unread == 1)
    }

    @Test func anEmptyTitleIsAbsent() throws {
        #expect(try self.head(self.world(row: { $0.profile.title = "" })).json["title"] == nil)
    }

    @Test func aPreviewWithoutContentHasAStateAndNoText() throws {
        let world = try self.world()
        try world.change { $0.blanks = [EventBlank(address: EventAddress(ConversationKey(7), 3), state: .recalled)] }
        #expect(
            try self.head(world).last?.json
                == wire(#"{"seq":3,"n":3,"sender":"alice","at":13,"kind":"text","state":"recalled"}"#))
    }

    @Test func aHiddenPreviewHasNoSender() throws {
        let world = try self.world()
        var hidden = AnnotationRow(address: AnnotationAddress(EventAddress(ConversationKey(7), 3), UserKey(2)), n: 3)
        hidden.isHidden = true
        try world.change { $0.annotations = [hidden] }
        #expect(try self.head(world).last?.json == wire(#"{"seq":3,"n":3,"kind":"hidden"}"#))
        let other = try world.context(of: 1).head(try #require(world.storage.head(of: UserKey(1), in: ConversationKey(7))))
        #expect(other.last?.text == "three")
    }

    @Test func anExpiredPreviewIsBlankBeforeItsRemoval() throws {
        let world = try self.world()
        var row = ViewWorld.message(7, 3, by: 1, #"{"text":"three"}"#)
        row.expiresAt = 500
        try world.change { $0.targets = [row] }
        for (now, text) in [(499, "three"), (500, nil), (501, nil)] as [(Int64, String?)] {
            world.now = now
            let last = try self.head(world).last
            #expect(last?.text == text && last?.state == (text == nil ? .expired : .normal))
        }
    }

    // MARK: Folders and drafts

    @Test func foldersMatchTheBits() throws {
        let world = try self.world(member: { $0.folders = 0b1001 })
        try world.account(2) { row in
            row.folders = [("Work", 0), ("Home", 1), ("Boats", 3), ("None", 64)].map { FolderRow(Folder(name: $0), slot: $1) }
        }
        #expect(try self.head(world).own.folders == ["Work", "Boats"])
        let rows = [try #require(world.storage.head(of: UserKey(2), in: ConversationKey(7)))]
        #expect(try world.context(of: 2).heads(rows).map(\.own.folders) == [["Work", "Boats"]])
        // A bit without a folder is ignored.
        try world.account(2) { $0.folders = [] }
        #expect(try self.head(world).own.folders == [])
    }

    @Test func foldersOfAClosedAccountAreRefused() throws {
        let world = try self.world(member: { $0.folders = 1 })
        try world.account(2) { $0.state = .suspended }
        #expect { try self.head(world) } throws: { ($0 as? ChatError)?.code == .unauthorized }
    }

    /// Each case is the stored row of a draft and the draft of the head.
    @Test(
        arguments: [
            (#"{"draft":{"text":"hi"}}"#, #"{"text":"hi","at":60}"#),
            (#"{"draft":{"text":"hi","ref":2}}"#, #"{"text":"hi","ref":2,"at":60}"#),
            (#"{"draft":{"text":""}}"#, #"{"text":"","at":60}"#), (#"{"draft":{"ref":2}}"#, nil), (#"{"draft":null}"#, nil),
            (#"{"text":"hi"}"#, nil), ("[]", nil), ("{", nil), ("", nil), (#"{"draft":{"text":7}}"#, nil),
        ] as [(String, String?)])
    func aDraftIsReadFromItsRow(stored: String, shown: String?) throws {
        let world = try self.world()
        var row = try #require(world.storage.head(of: UserKey(2), in: ConversationKey(7)))
        (row.draft, row.draftAt) = (stored, 60)
        #expect(try world.context(of: 2).head(row).own.draft?.json == shown.map { try wire($0) })
    }
}

import ApusChatCore
import ApusChatProtocol
import ApusChatStorage
import Testing

/// Each action in each standing, with each setting, and the refusals.
@Suite struct PermissionMatrixTests {
    private static let time: Int64 = 1_000_000
    private static let key = ConversationKey(1)

    private static func conversation(
        _ kind: ConversationKind = .group, _ configure: (inout ConversationSettings) -> Void = { _ in }
    ) -> ConversationRow {
        var settings = ConversationSettings()
        configure(&settings)
        return ConversationRow(key: Self.key, kind: kind, createdAt: 0, settings: settings)
    }

    private static func member(
        _ role: MemberRole = .member, _ state: MemberState = .joined, _ configure: (inout MemberRow) -> Void = { _ in }
    ) -> MemberRow {
        var member = MemberRow(address: MemberAddress(Self.key, UserKey(2)), role: role, state: state)
        configure(&member)
        return member
    }

    private static func refusal(_ action: ChatAction, _ member: MemberRow?, _ conversation: ConversationRow?) -> ChatError? {
        do throws(ChatError) {
            try Permissions.check(action, of: member, in: conversation, at: Self.time)
            return nil
        } catch { return error }
    }

    // MARK: Standings

    @Test(
        arguments: [
            (.group, .owner, .joined, .owner), (.group, .admin, .joined, .admin), (.group, .member, .joined, .member),
            (.group, .reader, .joined, .reader), (.group, .guest, .joined, .guest), (.group, .unknown, .joined, .guest),
            (.channel, .reader, .joined, .reader), (.unknown, .member, .joined, .member), (.own, .owner, .joined, .own),
            (.own, .member, .joined, .own), (.pair, .member, .joined, .pair), (.pair, .owner, .joined, .pair),
            (.group, .owner, .invited, .invited), (.group, .owner, .requested, .requested), (.group, .owner, .left, .former),
            (.group, .admin, .removed, .former), (.group, .owner, .banned, .banned), (.group, .owner, .unknown, .stranger),
            (.pair, .member, .left, .former),
        ] as [(ConversationKind, MemberRole, MemberState, Standing)])
    func aStandingFollowsTheKindTheRoleAndTheState(kind: ConversationKind, role: MemberRole, state: MemberState, standing: Standing) {
        #expect(Permissions.standing(of: Self.member(role, state), kind: kind, at: Self.time) == standing)
    }

    /// 0 is a ban without an end.
    @Test(arguments: [(0, true), (1, false), (time - 1, false), (time, false), (time + 1, true), (.max, true)] as [(Int64, Bool)])
    func aBanEndsAtItsTime(until: Int64, isBanned: Bool) {
        let member = Self.member(.member, .banned) { $0.bannedUntil = until }
        #expect(Permissions.standing(of: member, kind: .group, at: Self.time) == (isBanned ? .banned : .former))
    }

    // MARK: Refusals

    /// A user who must not learn of the conversation gets the answer for one that does not exist.
    @Test(arguments: ChatAction.allCases, Standing.allCases) func aRefusalRevealsNothingToOutsiders(action: ChatAction, standing: Standing)
    {
        let kind: ConversationKind = standing == .own ? .own : standing == .pair ? .pair : .group
        let conversation = Self.conversation(kind) {
            ($0.write, $0.invite, $0.manage, $0.pin, $0.mentionAll) = (.admins, .admins, .admins, .admins, .admins)
        }
        let member: MemberRow? =
            switch standing {
            case .own, .owner: Self.member(.owner)
            case .admin: Self.member(.admin)
            case .pair, .member: Self.member()
            case .reader: Self.member(.reader)
            case .guest: Self.member(.guest)
            case .invited: Self.member(.member, .invited)
            case .requested: Self.member(.member, .requested)
            case .former: Self.member(.member, .left)
            case .banned: Self.member(.member, .banned)
            case .stranger: nil
            }
        #expect(Permissions.standing(of: member, kind: kind, at: Self.time) == standing)
        let isGranted =
            switch Permissions.grant(action, standing) {
            case .yes, .past, .joinRule: true
            case .no, .setting: false
            }
        let refused = Self.refusal(action, member, conversation)
        #expect((refused == nil) == isGranted)
        guard let refused else { return }
        let absent = Self.refusal(action, nil, nil)
        switch standing {
        case .requested, .banned, .stranger: #expect(refused == absent && refused.code == .notFound)
        default: #expect(refused.code == .forbidden && refused.message.contains(action.name) && refused.message.contains(standing.name))
        }
    }

    @Test(arguments: ChatAction.allCases) func aDeletedConversationExistsForNoUser(action: ChatAction) {
        var conversation = Self.conversation()
        conversation.counters.isDeleted = true
        let refused = Self.refusal(action, Self.member(.owner), conversation)
        #expect(refused?.code == .notFound && refused == Self.refusal(action, Self.member(.owner), nil))
    }

    // MARK: Settings

    @Test(
        arguments: [
            (.send, .write), (.call, .write), (.invite, .invite), (.setProfile, .manage), (.pin, .pin), (.mentionAll, .mentionAll),
        ] as [(ChatAction, Grant.Setting)])
    func aSettingDecidesForMembersOnly(action: ChatAction, setting: Grant.Setting) {
        for scope in [MemberScope.members, .admins] {
            // All other settings have the opposite value, so that none of them decides.
            let other: MemberScope = scope == .members ? .admins : .members
            let conversation = Self.conversation {
                ($0.write, $0.invite, $0.manage, $0.pin, $0.mentionAll) = (other, other, other, other, other)
                switch setting {
                case .write: $0.write = scope
                case .invite: $0.invite = scope
                case .manage: $0.manage = scope
                case .pin: $0.pin = scope
                case .mentionAll: $0.mentionAll = scope
                }
            }
            #expect((Self.refusal(action, Self.member(), conversation) == nil) == (scope == .members))
            for role in [MemberRole.owner, .admin] { #expect(Self.refusal(action, Self.member(role), conversation) == nil) }
            #expect(Self.refusal(action, Self.member(.reader), conversation)?.code == .forbidden)
        }
    }

    // MARK: Silence

    /// The actions that docs/chat-permissions.md lists for a silenced member.
    private static let silenced: Set<ChatAction> = [
        .send, .mentionAll, .editOwn, .react, .vote, .pin, .call, .joinCall, .setProfile, .invite,
    ]

    @Test(arguments: ChatAction.allCases, [MemberRole.owner, .admin, .member]) func aSilenceRefusesWhatAddsContent(
        action: ChatAction, role: MemberRole
    ) {
        let conversation = Self.conversation {
            ($0.write, $0.invite, $0.manage, $0.pin, $0.mentionAll) = (.members, .members, .members, .members, .members)
        }
        let before = Self.refusal(action, Self.member(role), conversation)
        let silenced = Self.refusal(action, Self.member(role) { $0.silencedUntil = Self.time + 5_000 }, conversation)
        if before == nil, Self.silenced.contains(action) {
            #expect(silenced?.code == .forbidden && silenced?.retryAfter == 5_000)
        } else {
            #expect(silenced == before)
        }
        // The silence ends at its time.
        #expect(Self.refusal(action, Self.member(role) { $0.silencedUntil = Self.time }, conversation) == before)
    }

    @Test func aSilenceWithoutAnEndStatesATime() {
        let refused = Self.refusal(.send, Self.member { $0.silencedUntil = .max }, Self.conversation())
        #expect(refused?.retryAfter == .max - Self.time)
    }

    /// Each action and each standing has a name of its own, which refusals and the page show.
    @Test func namesAreUnique() {
        #expect(Set(ChatAction.allCases.map(\.name)).count == ChatAction.allCases.count)
        #expect(Set(Standing.allCases.map(\.name)).count == Standing.allCases.count)
    }
}

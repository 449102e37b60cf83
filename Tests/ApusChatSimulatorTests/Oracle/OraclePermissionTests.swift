import ApusChatCore
import ApusChatProtocol
import ApusChatStorage
import Testing

@testable import ApusChatSimulator

/// The oracle and the core have the permissions of docs/chat-permissions.md independently of each
/// other. A change of one of them alone would make the simulator report false faults.
@Suite("Oracle: permissions")
struct OraclePermissionTests {
    private static let deeds: [(Deed, [ChatAction])] = [
        (.send, [.send]), (.mentionAll, [.mentionAll]), (.mark, [.mark]), (.editOwn, [.editOwn]), (.removePreview, [.removePreview]),
        (.recallOwn, [.recallOwn]), (.call, [.call]), (.joinCall, [.joinCall]), (.leaveCall, [.leaveCall]),
        (.recallOthers, [.recallOthers]), (.hide, [.hide]),
        (.react, [.react]),
        (.vote, [.vote]), (.closePoll, [.closePoll]), (.pin, [.pin]),
        (.manage, [.configure, .remove, .ban, .silence, .setRole, .manageLinks, .approve]), (.setExpiry, [.configureExpiry]),
        (.invite, [.invite]), (.transfer, [.transfer]), (.accept, [.accept]), (.leave, [.leave]), (.personalize, [.personalize]),
    ]
    private static let time: Int64 = 1_000_000

    /// The settings on which permissions depend, each for members or for admins.
    private static var settings: [ConversationSettings] {
        (0..<16).map { bits in
            var settings = ConversationSettings()
            func scope(_ bit: Int) -> MemberScope { bits & 1 << bit == 0 ? .members : .admins }
            (settings.write, settings.invite, settings.pin, settings.mentionAll) = (scope(0), scope(1), scope(2), scope(3))
            return settings
        }
    }

    /// A state of a member: its state, its role, and the ends of a silence and of a ban.
    private struct State: CustomStringConvertible {
        var kind: ConversationKind
        var state: MemberState
        var role: MemberRole
        var silencedUntil: Int64 = 0
        var bannedUntil: Int64 = 0
        var description: String { "\(self.kind) \(self.state) \(self.role) silenced \(self.silencedUntil) banned \(self.bannedUntil)" }
    }

    private static var states: [State] {
        var states = [State(kind: .own, state: .joined, role: .owner), State(kind: .pair, state: .joined, role: .member)]
        for kind in [ConversationKind.group, .channel] {
            for role in [MemberRole.owner, .admin, .member, .reader, .guest] {
                for until in [0, Self.time - 1, Self.time, Self.time + 1] {
                    states.append(State(kind: kind, state: .joined, role: role, silencedUntil: until))
                    states.append(State(kind: kind, state: .banned, role: role, bannedUntil: until))
                }
                for state in [MemberState.invited, .requested, .left, .removed] {
                    states.append(State(kind: kind, state: state, role: role))
                }
            }
        }
        return states
    }

    @Test func bothPermitTheSame() {
        let (key, user) = (ConversationKey(10), UserKey(2))
        for settings in Self.settings {
            for state in Self.states {
                let oracle = Oracle(own: [:], names: [], rules: ChatRules())
                let book = Book(key: key, kind: state.kind, settings: settings)
                let person = Person(state: state.state, role: state.role)
                (person.silencedUntil, person.bannedUntil) = (state.silencedUntil, state.bannedUntil)
                book.people[user] = person
                oracle.books[key] = book
                var row = MemberRow(address: MemberAddress(key, user), role: state.role, state: state.state)
                (row.silencedUntil, row.bannedUntil) = (state.silencedUntil, state.bannedUntil)
                let conversation = ConversationRow(key: key, kind: state.kind, createdAt: 0, settings: settings)
                for (deed, actions) in Self.deeds {
                    let expected = Self.code { () throws(Refusal) in _ = try oracle.permit(deed, user, key, at: Self.time) }
                    for action in actions {
                        let found = Self.code { () throws(ChatError) in
                            try Permissions.check(action, of: row, in: conversation, at: Self.time)
                        }
                        #expect(found == expected, "\(action) of \(state)")
                    }
                }
            }
        }
    }

    private static func code(_ body: () throws(Refusal) -> Void) -> ChatError.Code? {
        do throws(Refusal) { try body() } catch { return error.code }
        return nil
    }

    private static func code(_ body: () throws(ChatError) -> Void) -> ChatError.Code? {
        do throws(ChatError) { try body() } catch { return error.code }
        return nil
    }

    @Test func aStrangerGetsNotFound() {
        let world = OracleWorld()
        for (deed, actions) in Self.deeds {
            #expect(Self.code { () throws(Refusal) in _ = try world.oracle.permit(deed, world.dan, world.group, at: 0) } == .notFound)
            #expect(
                Self.code { () throws(Refusal) in _ = try world.oracle.permit(deed, world.ann, ConversationKey(99), at: 0) } == .notFound)
            let conversation = ConversationRow(key: world.group, kind: .group, createdAt: 0, settings: ConversationSettings())
            for action in actions {
                #expect(Self.code { () throws(ChatError) in try Permissions.check(action, of: nil, in: conversation, at: 0) } == .notFound)
                #expect(Self.code { () throws(ChatError) in try Permissions.check(action, of: nil, in: nil, at: 0) } == .notFound)
            }
        }
    }
}

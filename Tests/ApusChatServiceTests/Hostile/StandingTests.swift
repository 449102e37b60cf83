import ApusChatProtocol
import ApusChatReference
import ApusJSON
import Testing

/// The answers to every verb of a conversation, by the standing of the user. A refusal that would
/// reveal the conversation is `not_found`.
@Suite(.timeLimit(.minutes(5)))
struct StandingTests {
    static let standings = ["member", "reader", "guest", "muted", "invited", "requested", "left", "removed", "banned", "stranger"]

    /// `no` is `forbidden`; `-` is `not_found`, as for a group that does not exist. The message is
    /// of another user and not a poll, which is a `bad` request for some verbs. `typing` is
    /// accepted without a push.
    static let table = """
                          member    reader    guest     muted     invited   requested left      removed   banned    stranger
        send              ok        no        ok        no        no        -         no        no        -         -
        history           ok        ok        ok        ok        -         -         ok        ok        -         -
        mark              ok        ok        ok        ok        no        -         no        no        -         -
        readers           ok        ok        ok        ok        -         -         -         -         -         -
        edit              no        no        no        no        no        -         no        no        -         -
        preview.remove    no        no        no        no        no        -         no        no        -         -
        recall            no        no        no        no        no        -         no        no        -         -
        hide              ok        ok        ok        ok        no        -         no        no        -         -
        react             ok        ok        ok        no        no        -         no        no        -         -
        pin               no        no        no        no        no        -         no        no        -         -
        vote              bad       bad       bad       no        no        -         no        no        -         -
        poll.close        bad       no        bad       bad       no        -         no        no        -         -
        forward           ok        no        ok        no        no        -         no        no        -         -
        conversation.info ok        ok        ok        ok        -         -         -         -         -         -
        conversation.set  no        no        no        no        no        -         no        no        -         -
        members           ok        ok        ok        ok        no        -         no        no        -         -
        member.add        ok        no        no        no        no        -         no        no        -         -
        member.answer     no        no        no        no        ok        -         no        no        -         -
        member.join       ok        ok        ok        ok        ok        ok        ok        ok        -         ok
        member.approve    no        no        no        no        no        -         no        no        -         -
        member.leave      ok        ok        ok        ok        ok        ok        ok        ok        -         -
        member.remove     no        no        no        no        no        -         no        no        -         -
        member.ban        no        no        no        no        no        -         no        no        -         -
        member.unban      no        no        no        no        no        -         no        no        -         -
        member.role       no        no        no        no        no        -         no        no        -         -
        member.mute       no        no        no        no        no        -         no        no        -         -
        link.create       no        no        no        no        no        -         no        no        -         -
        link.list         no        no        no        no        no        -         no        no        -         -
        own.set           ok        ok        ok        ok        no        -         ok        ok        -         -
        draft             ok        ok        ok        ok        no        -         ok        ok        -         -
        report            ok        ok        ok        ok        -         -         ok        ok        -         -
        report.conv       ok        ok        ok        ok        ok        -         ok        ok        -         -
        call.start        ok        no        no        no        no        -         no        no        -         -
        typing            ok        ok        ok        ok        ok        ok        ok        ok        ok        ok
        reactions         ok        ok        ok        ok        -         -         ok        ok        -         -
        schedule          ok        no        ok        no        no        -         no        no        -         -
        search            ok        ok        ok        ok        ok        ok        ok        ok        -         -
        subscribe         ok        ok        ok        ok        ok        ok        ok        ok        ok        ok
        call.update       bad       no        no        no        no        -         no        no        -         -
        signal            -         -         -         -         -         -         -         -         -         -
        link.revoke       -         -         -         -         -         -         -         -         -         -
        link.info         ok        ok        ok        ok        ok        ok        ok        ok        -         ok
        link.join         ok        ok        ok        ok        ok        ok        ok        ok        -         ok
        transfer          no        no        no        no        no        -         no        no        -         -
        delete.own        ok        ok        ok        ok        ok        ok        ok        ok        -         -
        delete.all        no        no        no        no        no        -         no        no        -         -
        """

    /// The answers in a channel, in which only owners and admins write.
    static let channel = """
                          member    reader    guest     muted     invited   requested left      removed   banned    stranger
        send              no        no        no        no        no        -         no        no        -         -
        history           ok        ok        ok        ok        -         -         ok        ok        -         -
        mark              ok        ok        ok        ok        no        -         no        no        -         -
        readers           no        no        no        no        -         -         -         -         -         -
        edit              no        no        no        no        no        -         no        no        -         -
        preview.remove    no        no        no        no        no        -         no        no        -         -
        recall            no        no        no        no        no        -         no        no        -         -
        hide              ok        ok        ok        ok        no        -         no        no        -         -
        react             ok        ok        ok        no        no        -         no        no        -         -
        pin               no        no        no        no        no        -         no        no        -         -
        vote              bad       bad       bad       no        no        -         no        no        -         -
        poll.close        bad       no        bad       bad       no        -         no        no        -         -
        forward           no        no        no        no        no        -         no        no        -         -
        conversation.info ok        ok        ok        ok        -         -         -         -         -         -
        conversation.set  no        no        no        no        no        -         no        no        -         -
        members           ok        ok        ok        ok        no        -         no        no        -         -
        member.add        no        no        no        no        no        -         no        no        -         -
        member.answer     no        no        no        no        ok        -         no        no        -         -
        member.join       ok        ok        ok        ok        ok        ok        ok        ok        -         ok
        member.approve    no        no        no        no        no        -         no        no        -         -
        member.leave      ok        ok        ok        ok        ok        ok        ok        ok        -         -
        member.remove     no        no        no        no        no        -         no        no        -         -
        member.ban        no        no        no        no        no        -         no        no        -         -
        member.unban      no        no        no        no        no        -         no        no        -         -
        member.role       no        no        no        no        no        -         no        no        -         -
        member.mute       no        no        no        no        no        -         no        no        -         -
        link.create       no        no        no        no        no        -         no        no        -         -
        link.list         no        no        no        no        no        -         no        no        -         -
        own.set           ok        ok        ok        ok        no        -         ok        ok        -         -
        draft             ok        ok        ok        ok        no        -         ok        ok        -         -
        report            ok        ok        ok        ok        -         -         ok        ok        -         -
        report.conv       ok        ok        ok        ok        ok        -         ok        ok        -         -
        call.start        no        no        no        no        no        -         no        no        -         -
        typing            ok        ok        ok        ok        ok        ok        ok        ok        ok        ok
        reactions         ok        ok        ok        ok        -         -         ok        ok        -         -
        schedule          no        no        no        no        no        -         no        no        -         -
        search            ok        ok        ok        ok        ok        ok        ok        ok        -         -
        subscribe         ok        ok        ok        ok        ok        ok        ok        ok        ok        ok
        call.update       bad       no        no        no        no        -         no        no        -         -
        signal            -         -         -         -         -         -         -         -         -         -
        link.revoke       -         -         -         -         -         -         -         -         -         -
        link.info         ok        ok        ok        ok        ok        ok        ok        ok        -         ok
        link.join         ok        ok        ok        ok        ok        ok        ok        ok        -         ok
        transfer          no        no        no        no        no        -         no        no        -         -
        delete.own        ok        ok        ok        ok        ok        ok        ok        ok        -         -
        delete.all        no        no        no        no        no        -         no        no        -         -
        """

    /// The answers in a pair to a user who blocks the other one, is blocked, or is neither. The
    /// answers to a blocked user do not reveal the block.
    static let pair = """
                          blocker   blocked   friend    stranger
        send              ok        ok        ok        -
        history           ok        ok        ok        -
        mark              ok        ok        ok        -
        readers           ok        ok        ok        -
        edit              no        no        no        -
        preview.remove    no        no        no        -
        recall            no        no        no        -
        hide              ok        ok        ok        -
        react             ok        ok        ok        -
        pin               ok        ok        ok        -
        vote              bad       bad       bad       -
        poll.close        bad       bad       bad       -
        forward           ok        ok        ok        -
        conversation.info ok        ok        ok        -
        conversation.set  no        no        no        -
        members           ok        ok        ok        -
        member.add        no        no        no        -
        member.answer     no        no        no        -
        member.join       -         -         -         -
        member.approve    no        no        no        -
        member.leave      ok        ok        ok        -
        member.remove     no        no        no        -
        member.ban        no        no        no        -
        member.unban      no        no        no        -
        member.role       no        no        no        -
        member.mute       no        no        no        -
        link.create       no        no        no        -
        link.list         no        no        no        -
        own.set           ok        ok        ok        -
        draft             ok        ok        ok        -
        report            ok        ok        ok        -
        report.conv       ok        ok        ok        -
        call.start        ok        ok        ok        -
        typing            ok        ok        ok        ok
        reactions         ok        ok        ok        -
        schedule          ok        ok        ok        -
        search            ok        ok        ok        -
        subscribe         ok        ok        ok        ok
        call.update       bad       bad       bad       -
        signal            -         -         -         -
        link.revoke       -         -         -         -
        link.info         -         -         -         -
        link.join         -         -         -         -
        transfer          no        no        no        -
        delete.own        ok        ok        ok        -
        delete.all        no        no        no        -
        """

    /// A group or channel with the owner `alice`, a message of the owner, and a user of each
    /// standing.
    final class Group {
        let owner: ChatPeer
        let peers: [String: ChatPeer]
        let conversation: ConversationID
        let message: Int64
        private(set) var link = StandingTests.noLink

        init(_ number: Int, kind: ConversationKind = .group, owner: ChatPeer, peers: [String: ChatPeer]) async throws {
            self.owner = owner
            self.peers = peers
            let users = Self.members.map { UserName(prepared: $0) }
            let created = try await owner.ask(
                ChatVerbs.conversationCreate,
                CreateRequest(
                    id: .make("g\(number)"), kind: kind, title: "Group \(number)", users: users + [UserName(prepared: "invited")]))
            self.conversation = created.head.conversation
            let conversation = self.conversation
            for name in Self.members {
                _ = try await peers[name]?.ask(
                    ChatVerbs.memberAnswer, MemberAnswerRequest(id: .make("a\(number)"), conversation: conversation, isAccepted: true))
            }
            self.message = try await owner.send("of the owner", to: conversation, id: "m\(number)").seq
            func name(_ text: String) -> [UserName] { [UserName(prepared: text)] }
            for (user, role) in [("reader", MemberRole.reader), ("member", .member), ("muted", .member)] {
                _ = try await owner.ask(
                    ChatVerbs.memberRole,
                    MemberRoleRequest(id: .make("r\(number)-\(user)"), conversation: conversation, users: name(user), role: role))
            }
            let forGuests = try await owner.ask(
                ChatVerbs.linkCreate, LinkCreateRequest(id: .make("v\(number)"), conversation: conversation, role: .guest)
            ).link.code
            _ = try await peers["guest"]?.ask(ChatVerbs.memberJoin, MemberJoinRequest(id: .make("w\(number)"), link: forGuests))
            _ = try await owner.ask(
                ChatVerbs.memberMute,
                MemberUntilRequest(id: .make("s\(number)"), conversation: conversation, users: name("muted"), until: 2_000_000_000_000))
            _ = try await peers["left"]?.ask(
                ChatVerbs.memberLeave, MemberLeaveRequest(id: .make("l\(number)"), conversation: conversation))
            _ = try await owner.ask(
                ChatVerbs.memberRemove,
                MemberUsersRequest(id: .make("x\(number)"), conversation: conversation, users: name("removed")))
            _ = try await owner.ask(
                ChatVerbs.memberBan, MemberUntilRequest(id: .make("b\(number)"), conversation: conversation, users: name("banned")))
            var settings = ConversationSettingsChange()
            settings.join = .approval
            _ = try await owner.ask(
                ChatVerbs.conversationSet,
                ConversationSetRequest(id: .make("j\(number)"), conversation: conversation, settings: settings))
            _ = try await peers["requested"]?.ask(
                ChatVerbs.memberJoin, MemberJoinRequest(id: .make("q\(number)"), conversation: conversation))
        }

        /// Creates the object that a verb needs, such as a link.
        func prepare(_ verb: String) async throws {
            switch verb {
            case "link.revoke", "link.info", "link.join":
                self.link = try await self.owner.ask(
                    ChatVerbs.linkCreate, LinkCreateRequest(id: .make("k\(self.conversation.rawValue)"), conversation: self.conversation)
                ).link.code.rawValue
            default: break
            }
        }

        static let members = ["member", "reader", "muted", "left", "removed", "banned"]

        /// Returns the verb and the request of a row.
        func request(_ row: String) -> (verb: String, request: JSONValue) {
            StandingTests.request(row, self.conversation, self.message, link: self.link)
        }
    }

    /// The code of no link.
    static let noLink = String(repeating: "x", count: 22)

    static func request(_ row: String, _ conversation: ConversationID, _ message: Int64, link: String = Self.noLink) -> (
        verb: String, request: JSONValue
    ) {
        var fields: JSONObject = [
            "id": .string("request-\(row)"), "conv": .string(conversation.rawValue), "ref": .integer(message), "seq": .integer(message),
        ]
        var verb = row
        switch row {
        case "send", "schedule":
            fields["ref"] = nil
            fields["kind"] = "text"
            fields["body"] = ["text": "hello"]
            if row == "schedule" { fields["send_at"] = 1_800_000_000_000 }
        case "edit": fields["body"] = ["text": "changed"]
        case "mark": fields["read"] = 1
        case "hide", "report":
            fields["seqs"] = [.integer(message)]
            fields["reason"] = "spam"
        case "report.conv":
            verb = "report"
            fields["reason"] = "spam"
        case "react": fields["key"] = "👍"
        case "vote": fields["options"] = [0]
        case "forward":
            fields["from"] = fields["conv"]
            fields["seqs"] = [.integer(message)]
        case "conversation.set": fields["title"] = "Changed"
        case "member.add", "member.remove", "member.ban", "member.unban", "member.mute": fields["users"] = ["bob"]
        case "member.role":
            fields["users"] = ["bob"]
            fields["role"] = "admin"
        case "transfer":
            verb = "member.role"
            fields["users"] = ["bob"]
            fields["role"] = "owner"
        case "member.answer": fields["accept"] = true
        case "member.approve":
            fields["user"] = "requested"
            fields["accept"] = true
        case "own.set": fields["archived"] = true
        case "draft":
            fields["ref"] = nil
            fields["text"] = "later"
        case "call.start": fields["media"] = "audio"
        case "call.update", "signal":
            fields["call"] = .integer(message)
            fields["state"] = "accepted"
            fields["to"] = "alice"
            fields["data"] = ["sdp": "v=0"]
        case "search": fields["query"] = "owner"
        case "subscribe": fields["convs"] = [.string(conversation.rawValue)]
        case "link.revoke", "link.info": fields["code"] = .string(link)
        case "link.join":
            verb = "member.join"
            fields["conv"] = nil
            fields["link"] = .string(link)
        case "delete.own": verb = "conversation.delete"
        case "delete.all":
            verb = "conversation.delete"
            fields["for_all"] = true
        default: break
        }
        return (verb, .object(fields))
    }

    /// Sends a request of each user and returns the answers: `ok`, or the short form of the error.
    static func answers(_ peers: [ChatPeer], to request: (verb: String, request: JSONValue)) async throws -> [String] {
        var answers: [String] = []
        for peer in peers {
            do {
                _ = try await peer.raw(request.verb, request.request)
                answers.append("ok")
            } catch let error as ChatError {
                answers.append(Self.short(error.code))
            }
        }
        return answers
    }

    static func rows(_ table: String) -> [(verb: String, answers: [String])] {
        table.split(separator: "\n").dropFirst().map { line in
            let fields = line.split(separator: " ").map(String.init)
            return (fields[0], Array(fields.dropFirst()))
        }
    }

    /// The verbs of the table, with their answers by standing.
    static let rows = Self.rows(Self.table)

    private static func short(_ code: ChatError.Code) -> String {
        switch code {
        case .forbidden: "no"
        case .notFound: "-"
        case .badRequest: "bad"
        default: code.rawValue
        }
    }

    @Test(arguments: [ConversationKind.group, .channel]) func everyVerbAsEveryStanding(kind: ConversationKind) async throws {
        try await withService(users: ["alice", "bob"] + Self.standings) { fixture in
            let owner = try await fixture.client("alice")
            var peers: [String: ChatPeer] = [:]
            for name in Self.standings { peers[name] = try await fixture.client(name) }
            let rows = kind == .group ? Self.rows : Self.rows(Self.channel)
            for (number, (verb, expected)) in rows.enumerated() {
                fixture.pass(milliseconds: 86_400_000)  // the budget of invitations is that of a day
                let group = try await Group(number, kind: kind, owner: owner, peers: peers)
                try await group.prepare(verb)
                let answers = try await Self.answers(Self.standings.compactMap { peers[$0] }, to: group.request(verb))
                #expect(answers == expected, "\(verb)")
            }
        }
    }

    @Test func everyVerbInAPairThatOneSideBlocks() async throws {
        try await withService(users: ["alice", "bob", "carol", "dave", "eve"]) { fixture in
            let (blocker, blocked) = (try await fixture.client("alice"), try await fixture.client("bob"))
            let (carol, dave) = (try await fixture.client("carol"), try await fixture.client("dave"))
            let stranger = try await fixture.client("eve")
            let bad = try await blocked.open("alice")
            let good = try await dave.open("carol")
            var number = 0
            for (verb, expected) in Self.rows(Self.pair) {
                number += 1
                fixture.pass(milliseconds: 86_400_000)
                let toBlocker = try await blocked.send("of bob", to: bad, id: "b\(number)").seq
                let toBlocked = try await blocker.send("of alice", to: bad, id: "a\(number)").seq
                let toFriend = try await dave.send("of dave", to: good, id: "d\(number)").seq
                _ = try await blocker.ask(
                    ChatVerbs.block, ContactUserRequest(id: .make("block\(number)"), user: UserName(prepared: "bob")))
                var answers = try await Self.answers([blocker], to: Self.request(verb, bad, toBlocker))
                answers += try await Self.answers([blocked], to: Self.request(verb, bad, toBlocked))
                answers += try await Self.answers([carol], to: Self.request(verb, good, toFriend))
                answers += try await Self.answers([stranger], to: Self.request(verb, good, toFriend))
                #expect(answers == expected, "\(verb)")
                _ = try await blocker.ask(
                    ChatVerbs.unblock, ContactUserRequest(id: .make("unblock\(number)"), user: UserName(prepared: "bob")))
            }
        }
    }

    /// Verbs that concern only the user's own account, or objects that the request does not find.
    static let own: [(verb: String, request: JSONValue, answer: String)] = [
        ("hello", ["version": 1, "device": ["name": "Test", "platform": "test"]], "bad"),  // a second one
        ("sync", [:], "ok"), ("contacts", [:], "ok"), ("directory", [:], "ok"), ("scheduled", [:], "ok"), ("settings", [:], "ok"),
        ("settings.set", ["id": "s", "settings": ["folders": [["name": "Work"]]]], "ok"),
        ("profile.set", ["id": "p", "nick": "Al"], "ok"), ("unschedule", ["id": "n", "of": "none"], "-"), ("call.servers", [:], "ok"),
        ("devices", [:], "ok"),
        ("device.remove", ["id": "d", "device": .string(DeviceID(number: 200).rawValue)], "-"),
        ("push.set", ["id": "w", "kind": "web"], "unsupported"),
    ]

    @Test func theOwnAccountCanBeChangedByItself() async throws {
        try await withService { fixture in
            let alice = try await fixture.client("alice")
            for (verb, request, answer) in Self.own {
                #expect(try await Self.answers([alice], to: (verb, request)) == [answer], "\(verb)")
            }
            let profile = try await fixture.client("bob").ask(ChatVerbs.users, UsersRequest(names: [UserName(prepared: "alice")])).users
            #expect(profile.first?.nick == "Al")
        }
    }

    /// Each verb has a row in each table, so that its answers to outsiders are tested.
    @Test func everyVerbHasARow() {
        for table in [Self.table, Self.channel, Self.pair] {
            let rows = Self.rows(table)
            let verbs = rows.map { Self.request($0.verb, ConversationID(number: 1), 1).verb }
            let covered = Set(verbs).union(PeopleStandingTests.rows.map(\.verb)).union(Self.own.map(\.verb))
            let known = Set(ChatReference.verbs.map(\.name))
            #expect(known.subtracting(covered).sorted() == [])
            #expect(covered.subtracting(known).sorted() == [])
            #expect(rows.map(\.verb) == Self.rows.map(\.verb), "the tables have the same rows")
        }
    }

    /// A connection without a session is refused, and requests before `hello` are not answered.
    @Test func everyVerbNeedsASessionAndAGreeting() async throws {
        try await withService(users: ["alice", "bob"]) { fixture in
            for token in ["", "alice", "mallory:0", "alice:x", "alice:0:0"] {
                await #expect { try await ChatPeer(url: fixture.url, token: token).connect() } throws: {
                    "\($0)".contains("unauthorized")
                }
            }
            let pair = try await fixture.client("bob").open("alice")
            let peer = ChatPeer(url: fixture.url, token: "alice:0")
            try await peer.connect()
            for verb in ChatReference.verbs.map(\.name) where verb != ChatVerbs.hello.name {
                let answers = try await Self.answers([peer], to: Self.request(verb, pair, 1))
                #expect(answers == ["unauthorized"], "\(verb)")
            }
        }
    }
}

import ApusChatCore
import ApusChatProtocol
import ApusChatStorage
import ApusSeededRandom
import Testing

/// Random commands in random batches, compared with a simple model that scans lists and has no
/// counters.
@Suite struct ModelTests {
    /// A message of the model.
    private struct Message {
        let seq: Int64
        let n: Int64
        let sender: UserKey
        var body: String
        /// The body before the first edit.
        let original: String
        /// The `seq` of the last edit, or 0.
        var editSeq: Int64 = 0
        var isBlank = false
        var mentions: [UserKey]
        var hidden: Set<UserKey> = []
        var reactions: [UserKey: Set<String>] = [:]
    }

    private struct Model {
        var messages: [Message] = []
        var seq: Int64 = 0
        var reads: [UserKey: Int64] = [:]
        /// The last `seq` when each user blocked the other one.
        var blocked: [UserKey: Int64] = [:]

        /// Returns the number of messages above the read position that the user sees and did not
        /// send.
        func unread(_ user: UserKey) -> Int64 {
            Int64(self.messages.count { $0.n > self.reads[user] ?? 0 && $0.sender != user && !$0.hidden.contains(user) })
        }

        func mentions(_ user: UserKey) -> Int64 {
            Int64(
                self.messages.count {
                    $0.n > self.reads[user] ?? 0 && $0.sender != user && !$0.hidden.contains(user) && $0.mentions.contains(user)
                })
        }

        func bodies(_ user: UserKey) -> [String] {
            self.messages.map { message in
                if message.hidden.contains(user) { return "hidden" }
                if message.isBlank { return "recalled" }
                guard let block = self.blocked[user], message.sender != user, message.editSeq > block else { return message.body }
                return message.original
            }
        }
    }

    @Test(arguments: 1...40 as ClosedRange<UInt64>) func aGroupMatchesTheModel(seed: UInt64) throws {
        var random = SplitMix64(state: seed)
        let world = World()
        let users = ["ann", "bob", "cid", "dan"].map { world.user($0) }
        let group = world.conversation(owner: users[0], members: Array(users.dropFirst()))
        var model = Model()
        for _ in 0..<12 {
            var commands: [Command] = []
            var expected: [Bool] = []
            for _ in 0..<Int.random(in: 1...8, using: &random) {
                let (command, isAccepted) = self.step(&model, users, group, world, &random)
                commands.append(command)
                expected.append(isAccepted)
            }
            let decisions = try world.run(commands)
            for (decision, isAccepted) in zip(decisions, expected) {
                #expect((decision.code == nil) == isAccepted, "seed \(seed): \(decision)")
            }
            self.compare(model, users, group, world, seed)
        }
    }

    @Test(arguments: 1...20 as ClosedRange<UInt64>) func aPairWithBlocksMatchesTheModel(seed: UInt64) throws {
        var random = SplitMix64(state: seed &+ 1_000)
        let world = World()
        let users = [world.user("ann"), world.user("bob")]
        let pair = world.pair(users[0], users[1])
        var model = Model()
        for _ in 0..<20 {
            if Int.random(in: 0..<4, using: &random) == 0 {
                let blocker = users[Int.random(in: 0...1, using: &random)]
                let isOn = model.blocked[blocker] == nil
                model.blocked[blocker] = isOn ? model.seq : nil
                let other = users[0] == blocker ? users[1] : users[0]
                try world.run(world.command(blocker, .contact(other, .block(isOn))))
            }
            let commands = (0..<Int.random(in: 1...5, using: &random)).map { _ in self.step(&model, users, pair, world, &random).0 }
            try world.run(commands)
            self.compare(model, users, pair, world, seed)
        }
    }

    /// Returns a random command, and whether it is accepted, and applies it to the model.
    private func step(
        _ model: inout Model, _ users: [UserKey], _ key: ConversationKey, _ world: World, _ random: inout SplitMix64
    ) -> (Command, Bool) {
        let actor = users[Int.random(in: 0..<users.count, using: &random)]
        let index = model.messages.isEmpty ? nil : Int.random(in: 0..<model.messages.count, using: &random)
        let address = index.map { EventAddress(key, model.messages[$0].seq) } ?? EventAddress(key, 1)
        switch Int.random(in: 0..<10, using: &random) {
        case 0..<4:
            let mentioned = users[Int.random(in: 0..<users.count, using: &random)]
            let n = Int64(model.messages.count) + 1
            model.seq += 1
            // A message moves the read position of its sender if the sender had read all earlier
            // messages.
            if model.reads[actor] ?? 0 == n - 1 { model.reads[actor] = n }
            let text = "{\"text\":\"\(model.seq)\"}"
            var message = Message(seq: model.seq, n: n, sender: actor, body: text, original: text, mentions: [mentioned])
            message.hidden = Set(model.blocked.keys).subtracting([actor])
            model.messages.append(message)
            return (world.text(actor, key, "\(model.seq)", mentions: [mentioned]), true)
        case 4..<6:
            let n = Int64.random(in: 0...Int64(model.messages.count) + 2, using: &random)
            model.reads[actor] = max(model.reads[actor] ?? 0, min(n, Int64(model.messages.count)))
            return (world.read(actor, key, n), true)
        case 6:
            let body = "{\"text\":\"edited\"}"
            let command = world.command(actor, .edit(address, .success(MessageContent(kind: .text, body: body))))
            guard let index, self.sees(actor, model.messages[index]), model.messages[index].sender == actor else { return (command, false) }
            model.seq += 1
            model.messages[index].body = body
            model.messages[index].editSeq = model.seq
            return (command, true)
        case 7:
            let command = world.command(actor, .recall(address))
            let isOwner = actor == users[0] && users.count > 2
            guard let index, self.sees(actor, model.messages[index]), isOwner || model.messages[index].sender == actor else {
                return (command, false)
            }
            model.seq += 1
            model.messages[index].isBlank = true
            model.messages[index].mentions = []
            return (command, true)
        case 8:
            let command = world.command(actor, .hide(key, [address.seq]))
            guard let index, !model.messages[index].hidden.contains(actor) else { return (command, false) }
            model.messages[index].hidden.insert(actor)
            return (command, true)
        default:
            let command = world.command(actor, .react(address, key: "+", isOn: true))
            guard let index, self.sees(actor, model.messages[index]) else { return (command, false) }
            if model.messages[index].reactions[actor] == nil { model.seq += 1 }
            model.messages[index].reactions[actor] = ["+"]
            return (command, true)
        }
    }

    private func sees(_ user: UserKey, _ message: Message) -> Bool { !message.isBlank && !message.hidden.contains(user) }

    private func compare(_ model: Model, _ users: [UserKey], _ key: ConversationKey, _ world: World, _ seed: UInt64) {
        for user in users {
            #expect(world.unread(user, in: key) == model.unread(user), "seed \(seed), \(user)")
            #expect(world.mentions(user, in: key) == model.mentions(user), "seed \(seed), \(user)")
            #expect(world.bodies(user, in: key) == model.bodies(user), "seed \(seed), \(user)")
            let seqs = world.storage.events(in: key, .from(1), as: user, limit: 10_000).map(\.seq)
            #expect(seqs == (0..<model.seq).map { $0 + 1 }, "no holes; seed \(seed)")
        }
        #expect(world.storage.head(of: users[0], in: key)?.conversation.counters.lastSeq == model.seq)
        #expect(world.storage.head(of: users[0], in: key)?.conversation.counters.lastN == Int64(model.messages.count))
    }
}

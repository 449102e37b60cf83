import ApusChatCore
import ApusChatProtocol
import ApusChatStorage
import Testing

/// Calls in the log of a conversation.
@Suite struct CallTests {
    let world = World()
    let ann: UserKey
    let bob: UserKey
    let pair: ConversationKey

    init() {
        self.ann = self.world.user("ann")
        self.bob = self.world.user("bob")
        self.pair = self.world.pair(self.ann, self.bob)
    }

    private func run(_ actor: UserKey, _ action: Command.Action) throws -> Decision {
        try self.world.run(self.world.command(actor, action))
    }

    private var call: EventAddress { EventAddress(self.pair, 1) }
    private var body: String { self.world.bodies(self.ann, in: self.pair).first ?? "" }
    private var running: Int64? { self.world.storage.head(of: self.ann, in: self.pair)?.conversation.counters.callSeq }

    @Test func aCallIsOneMessageThatChanges() throws {
        #expect(try self.run(self.ann, .startCall(self.pair, .audio)).answer?.seq == 1)
        #expect(self.body == "{\"media\":\"audio\",\"state\":\"ringing\"}")
        #expect(self.running == 1)
        #expect(try self.run(self.ann, .updateCall(self.call, .accepted)).answer?.seq == 0, "the caller cannot accept")
        self.world.now += 1_000
        #expect(try self.run(self.bob, .updateCall(self.call, .accepted)).answer?.seq == 2)
        self.world.now += 61_000
        #expect(try self.run(self.ann, .updateCall(self.call, .ended)).answer?.seq == 3)
        #expect(self.body == "{\"media\":\"audio\",\"state\":\"ended\",\"duration\":61000}")
        #expect(self.running == 0)
        #expect(try self.run(self.bob, .updateCall(self.call, .declined)).answer?.seq == 0, "late")
        #expect(self.world.unread(self.bob, in: self.pair) == 1)
    }

    @Test func simultaneousCallsBecomeOne() throws {
        let decisions = try self.world.run([
            self.world.command(self.ann, .startCall(self.pair, .video)), self.world.command(self.bob, .startCall(self.pair, .audio)),
        ])
        #expect(decisions.compactMap(\.answer?.seq) == [1, 1])
        #expect(self.world.bodies(self.ann, in: self.pair).count == 1)
    }

    @Test func theServerEndsARingWithoutAnAnswer() throws {
        _ = try self.run(self.ann, .startCall(self.pair, .audio))
        try self.world.run(Command(actor: UserKey(0), device: DeviceKey(0), request: nil, action: .updateCall(self.call, .missed)))
        #expect(self.body == "{\"media\":\"audio\",\"state\":\"missed\"}")
        #expect(try self.run(self.bob, .startCall(self.pair, .audio)).answer?.seq == 3)
    }

    private func serverReports(_ state: CallState) throws -> Int64? {
        let command = Command(actor: UserKey(0), device: DeviceKey(0), request: nil, action: .updateCall(self.call, state))
        return try self.world.run(command).answer?.seq
    }

    @Test func theServerEndsAnAcceptedCall() throws {
        _ = try self.run(self.ann, .startCall(self.pair, .audio))
        _ = try self.run(self.bob, .updateCall(self.call, .accepted))
        #expect(try self.serverReports(.missed) == 0)
        #expect(self.running == 1)
        self.world.now += 5_000
        #expect(try self.serverReports(.ended) == 3)
        #expect(self.body == "{\"media\":\"audio\",\"state\":\"ended\",\"duration\":5000}")
        #expect(self.running == 0)
        #expect(try self.serverReports(.ended) == 0)
    }

    /// Each step is a command and the changes of calls that its batch reports.
    @Test func theDevicesOfACallAreReported() throws {
        func change(_ state: CallState, _ user: UserKey?) -> [CallChange] {
            let party = user.map { CallChange.Party($0, DeviceKey($0.rawValue)) }
            return [CallChange(call: self.call, .state(state, joined: party), isGroup: false)]
        }
        let steps: [(UserKey, Command.Action, [CallChange])] = [
            (self.ann, .startCall(self.pair, .audio), change(.ringing, self.ann)),
            (self.bob, .startCall(self.pair, .audio), []),
            (self.ann, .updateCall(self.call, .accepted), []),
            (self.bob, .updateCall(self.call, .accepted), change(.accepted, self.bob)),
            // A device that reconnects after a restart of the server reports the state again.
            (self.ann, .updateCall(self.call, .accepted), change(.accepted, self.ann)),
            (self.world.user("eve"), .updateCall(self.call, .accepted), []),
            (self.bob, .updateCall(self.call, .ended), change(.ended, nil)),
            (self.bob, .updateCall(self.call, .accepted), []),
        ]
        for (number, (actor, action, expected)) in steps.enumerated() {
            _ = try self.run(actor, action)
            #expect(self.world.calls == expected, "step \(number)")
        }
    }

    @Test func aCallWhoseMessageIsGoneEnds() throws {
        for isRecalled in [true, false] {
            let call = EventAddress(self.pair, try #require(try self.run(self.ann, .startCall(self.pair, .audio)).answer?.seq))
            _ = try self.run(self.bob, .updateCall(call, .accepted))
            #expect(self.running == call.seq)
            if isRecalled {
                _ = try self.run(self.ann, .recall(call))
            } else {
                try self.world.run(Command(actor: UserKey(0), device: DeviceKey(0), request: nil, action: .blank([call], .expired)))
            }
            #expect(self.running == 0)
            #expect(self.world.calls == [CallChange(call: call, .state(.ended, joined: nil), isGroup: false)])
        }
    }

    @Test(arguments: [(CallState.declined, "declined"), (.busy, "busy"), (.ended, "missed")])
    func theCalleeEndsTheRinging(state: CallState, shown: String) throws {
        _ = try self.run(self.ann, .startCall(self.pair, .audio))
        _ = try self.run(self.bob, .updateCall(self.call, state))
        #expect(self.body == "{\"media\":\"audio\",\"state\":\"\(shown)\"}")
        #expect(self.running == 0)
    }

    @Test func outsidersAndOtherMessagesAreRefused() throws {
        let eve = self.world.user("eve")
        #expect(try self.run(eve, .startCall(self.pair, .audio)).code == .notFound)
        try self.world.run(self.world.text(self.ann, self.pair))
        #expect(try self.run(self.bob, .updateCall(self.call, .accepted)).code == .badRequest)
        #expect(try self.run(eve, .updateCall(self.call, .accepted)).code == .notFound)
    }
}

/// Calls of groups, which a member cannot end for the others.
extension CallTests {
    /// Returns a group in which Bob accepted a call of Ann.
    private func groupCall(_ members: [UserKey] = [], of owner: UserKey? = nil) throws -> EventAddress {
        let group = self.world.conversation(owner: owner ?? self.world.user("olga"), members: [self.ann, self.bob] + members)
        let call = EventAddress(group, try #require(try self.run(self.ann, .startCall(group, .audio)).answer?.seq))
        _ = try self.run(self.bob, .updateCall(call, .accepted))
        return call
    }

    private func isRunning(_ call: EventAddress) -> Bool {
        self.world.storage.head(of: self.bob, in: call.conversation)?.conversation.counters.callSeq == call.seq
    }

    private func change(_ call: EventAddress, _ event: CallChange.Event) -> [CallChange] { [CallChange(call: call, event, isGroup: true)] }

    @Test func aMemberLeavesTheCallAndTheServerEndsIt() throws {
        let eve = self.world.user("eve")
        let call = try self.groupCall([eve])
        // The caller, the callee and a member who is not in the call; each a second time.
        for user in [self.ann, self.bob, eve, self.ann, self.bob, eve] {
            self.world.now += 1_000
            #expect(try self.run(user, .updateCall(call, .ended)).answer?.seq == 0, "no event")
            #expect(self.world.calls == self.change(call, .left(DeviceKey(user.rawValue))))
            #expect(self.isRunning(call))
        }
        _ = try self.run(self.ann, .updateCall(call, .accepted))
        let party = CallChange.Party(self.ann, DeviceKey(self.ann.rawValue))
        #expect(self.world.calls == self.change(call, .state(.accepted, joined: party)), "it joins again")
        try self.world.run(Command(actor: UserKey(0), device: DeviceKey(0), request: nil, action: .updateCall(call, .ended)))
        #expect(self.world.bodies(self.bob, in: call.conversation) == ["{\"media\":\"audio\",\"state\":\"ended\",\"duration\":6000}"])
        #expect(!self.isRunning(call))
        #expect(try self.run(self.ann, .updateCall(call, .ended)).answer?.seq == 0)
        #expect(self.world.calls == [])
    }

    /// A retry has no effect, also after the device has joined again.
    @Test func theRetryOfADepartureIsNotAnother() throws {
        let call = try self.groupCall()
        let leave = self.world.command(self.ann, .updateCall(call, .ended), id: "leave")
        _ = try self.world.run(leave)
        _ = try self.run(self.ann, .updateCall(call, .accepted))
        let retry = try self.world.run(leave)
        #expect(retry.answer?.seq == 0 && self.world.calls == [])
    }

    @Test func aMemberWhoMayNoLongerCallCanLeave() throws {
        let call = try self.groupCall()
        self.world.modify(self.ann, in: call.conversation) { $0.silencedUntil = self.world.now + 60_000 }
        self.world.modify(self.bob, in: call.conversation) { $0.role = .guest }
        for user in [self.ann, self.bob] {
            #expect(try self.run(user, .updateCall(call, .accepted)).code == .forbidden)
            #expect(try self.run(user, .updateCall(call, .ended)).answer?.seq == 0)
            #expect(self.world.calls == self.change(call, .left(DeviceKey(user.rawValue))))
        }
    }

    @Test func theCallerOfAGroupEndsTheRing() throws {
        let group = self.world.conversation(owner: self.ann, members: [self.bob])
        let call = EventAddress(group, try #require(try self.run(self.ann, .startCall(group, .audio)).answer?.seq))
        #expect(try self.run(self.bob, .updateCall(call, .ended)).answer?.seq == 0)
        #expect(self.isRunning(call) && self.world.calls == [])
        #expect(try self.run(self.ann, .updateCall(call, .ended)).answer?.seq == 2)
        #expect(self.world.bodies(self.bob, in: group) == ["{\"media\":\"audio\",\"state\":\"missed\"}"])
        #expect(self.world.calls == self.change(call, .state(.missed, joined: nil)))
    }

    /// Each case is a command with which a user ceases to be a member, and the user.
    @Test func aFormerMemberIsNoLongerInTheCall() throws {
        let owner = self.world.user("olga")
        let call = try self.groupCall(of: owner)
        _ = try self.run(owner, .remove(call.conversation, [self.ann]))
        #expect(self.world.calls == self.change(call, .departed(self.ann)))
        #expect(try self.run(self.ann, .updateCall(call, .ended)).code == .forbidden)
        #expect(self.world.calls == [])
        _ = try self.run(self.bob, .leave(call.conversation, forgets: false))
        #expect(self.world.calls == self.change(call, .departed(self.bob)))
        // Without a call, there is nothing to report.
        try self.world.run(Command(actor: UserKey(0), device: DeviceKey(0), request: nil, action: .updateCall(call, .ended)))
        let group = self.world.conversation(owner: owner, members: [self.bob])
        _ = try self.run(self.bob, .leave(group, forgets: false))
        #expect(self.world.calls == [])
    }

    /// In a channel, and in a group in which admins write only, the other members can still join.
    @Test(arguments: [ConversationKind.channel, .group])
    func aMemberThatMayNotWriteJoinsCallsButStartsNone(kind: ConversationKind) throws {
        let owner = self.world.user("olga")
        let group = self.world.conversation(kind, owner: owner, members: [self.ann]) { $0.settings.write = .admins }
        #expect(try self.run(self.ann, .startCall(group, .audio)).code == .forbidden)
        #expect(self.world.bodies(owner, in: group).isEmpty && self.world.calls == [])
        let call = EventAddress(group, try #require(try self.run(owner, .startCall(group, .audio)).answer?.seq))
        #expect(try self.run(self.ann, .startCall(group, .video)).answer?.seq == call.seq)
        #expect(try self.run(self.ann, .updateCall(call, .accepted)).answer?.seq == call.seq + 1)
        self.world.modify(self.ann, in: group) { $0.role = .reader }
        #expect(try self.run(self.ann, .startCall(group, .audio)).code == .forbidden)
        self.world.modify(self.ann, in: group) { $0.role = .admin }
        #expect(try self.run(self.ann, .startCall(group, .audio)).answer?.seq == call.seq)
    }

    @Test func theRecallOfACallDoesNotEndItForTheGroup() throws {
        let call = try self.groupCall()
        #expect(try self.run(self.ann, .recall(call)).code == .conflict)
        #expect(self.isRunning(call) && self.world.calls == [])
        try self.world.run(Command(actor: UserKey(0), device: DeviceKey(0), request: nil, action: .updateCall(call, .ended)))
        #expect(try self.run(self.ann, .recall(call)).answer != nil)
    }
}

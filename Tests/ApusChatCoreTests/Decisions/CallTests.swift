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

    @Test func callsThatCrossAreOne() throws {
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
    @Test func theDevicesOfACallAreTold() throws {
        let (ann, bob) = (DeviceKey(self.ann.rawValue), DeviceKey(self.bob.rawValue))
        let steps: [(UserKey, Command.Action, [CallChange])] = [
            (self.ann, .startCall(self.pair, .audio), [CallChange(call: self.call, state: .ringing, device: ann)]),
            (self.bob, .startCall(self.pair, .audio), []),
            (self.ann, .updateCall(self.call, .accepted), []),
            (self.bob, .updateCall(self.call, .accepted), [CallChange(call: self.call, state: .accepted, device: bob)]),
            // A device that reconnects after a restart of the server reports the state again.
            (self.ann, .updateCall(self.call, .accepted), [CallChange(call: self.call, state: .accepted, device: ann)]),
            (self.world.user("eve"), .updateCall(self.call, .accepted), []),
            (self.bob, .updateCall(self.call, .ended), [CallChange(call: self.call, state: .ended)]),
            (self.bob, .updateCall(self.call, .accepted), []),
        ]
        for (number, (actor, action, expected)) in steps.enumerated() {
            _ = try self.run(actor, action)
            #expect(self.world.calls == expected, "step \(number)")
        }
    }

    @Test func aCallWhoseMessageIsGoneTakesPlaceNoMore() throws {
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
            #expect(self.world.calls == [CallChange(call: call, state: .ended)])
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

import ApusChatCore
import ApusChatProtocol
import ApusChatStorage
import Testing

@testable import ApusChatSimulator

/// The calls of the oracle, by the rules of docs/chat-model.md.
@Suite("Oracle: calls")
struct OracleCallTests {
    private static let states: [CallState] = [.ringing, .accepted, .ended, .missed, .declined, .busy]

    private func device(_ user: UserKey) -> DeviceKey { DeviceKey(user.rawValue) }

    /// The oracle and the machine of the core decide on each report independently of each other. A
    /// change of one of them alone would make the simulator report false faults.
    @Test(arguments: [true, false], Self.states)
    func bothDecideTheSameOnAReport(isGroup: Bool, state: CallState) throws {
        for party in CallMachine.Party.allCases {
            for report in CallState.allCases {
                let world = OracleWorld()
                let key = isGroup ? world.group : world.pair
                #expect(world.judge(.startCall(key, .audio), by: world.ann) == .accepted(seq: 1, n: 1))
                let entry = world.book(key).entries[0]
                entry.call = Call(state: state, acceptedAt: state == .accepted ? world.time : 0)
                let since = world.time
                world.time += 61_500
                let actor =
                    switch party {
                    case .caller: world.ann
                    case .callee: world.bob
                    case .server: UserKey(0)
                    }
                let verdict = world.judge(.updateCall(world.at(1, key), report), by: actor)
                var machine = CallMachine(state: state, changedAt: since, isGroup: isGroup)
                switch machine.reported(report, by: party, at: world.time) {
                case .record(let new, let duration):
                    #expect(verdict == .accepted(seq: 2, n: 0), "\(report) by \(party)")
                    #expect(entry.call?.state == new && entry.call?.duration == duration, "\(report) by \(party)")
                    let update = try #require(world.book(key).entries.last)
                    #expect(update.kind == .callUpdate && update.ref == 1 && update.call?.state == new)
                    #expect(update.sender == (party == .server ? world.ann : actor))
                case .leave, .doNothing:
                    #expect(verdict == .unchanged, "\(report) by \(party)")
                    #expect(entry.call?.state == state && world.book(key).lastSeq == 1, "\(report) by \(party)")
                }
            }
        }
    }

    @Test func aSecondCallJoinsTheRunningOne() {
        let world = OracleWorld()
        #expect(world.judge(.startCall(world.group, .audio), by: world.ann) == .accepted(seq: 1, n: 1))
        #expect(world.judge(.startCall(world.group, .video), by: world.bob) == .accepted(seq: 1, n: 0))
        #expect(world.book().lastSeq == 1)
        world.judge(.updateCall(world.at(1), .ended), by: world.ann)
        #expect(world.judge(.startCall(world.group, .audio), by: world.bob) == .accepted(seq: 3, n: 2))
        // A call whose message was removed is not running.
        world.judge(.recall(world.at(3)), by: world.ann)
        #expect(world.judge(.startCall(world.group, .audio), by: world.bob) == .accepted(seq: 5, n: 3))
    }

    @Test(arguments: [(32, true), (33, false)]) func aCallWithoutAMediaServerHasABound(members: Int, isAccepted: Bool) {
        let world = OracleWorld()
        for number in 4...members { world.book().people[UserKey(Int64(number) + 100)] = Person(state: .joined, role: .member) }
        // Former members do not count.
        for number in 1...40 { world.book().people[UserKey(Int64(number) + 500)] = Person(state: .left, role: .member) }
        let verdict = world.judge(.startCall(world.group, .audio), by: world.ann)
        #expect(verdict == (isAccepted ? .accepted(seq: 1, n: 1) : .refused(.limit)))
    }

    @Test func onlyMembersWhoMayCallDo() {
        let world = OracleWorld()
        #expect(world.judge(.startCall(world.group, .audio), by: world.dan) == .refused(.notFound))
        #expect(world.judge(.startCall(ConversationKey(1), .audio), by: world.ann) == .refused(.forbidden), "the notes")
        for role in [MemberRole.reader, .guest] {
            world.person(world.bob).role = role
            #expect(world.judge(.startCall(world.group, .audio), by: world.bob) == .refused(.forbidden), "\(role)")
        }
        world.send("text", by: world.ann)
        #expect(world.judge(.updateCall(world.at(1), .ended), by: world.cid) == .refused(.badRequest), "not a call")
        #expect(world.judge(.updateCall(world.at(9), .ended), by: world.cid) == .refused(.notFound))
        #expect(world.judge(.updateCall(world.at(9), .ended), by: UserKey(0)) == .refused(.notFound))
    }

    @Test func aRunningCallOfAGroupIsNotRecalled() {
        let world = OracleWorld()
        for (key, verdict) in [(world.group, Verdict.refused(.conflict)), (world.pair, .accepted(seq: 3, n: 0))] {
            world.judge(.startCall(key, .audio), by: world.ann)
            world.judge(.updateCall(world.at(1, key), .accepted), by: world.bob)
            #expect(world.judge(.recall(world.at(1, key)), by: world.ann) == verdict)
        }
    }

    // MARK: Devices

    /// A device takes part from its report to its departure.
    @Test func theDevicesOfACallAreThoseThatReport() {
        let world = OracleWorld()
        let call = world.at(1)
        func devices() -> Set<DeviceKey> { Set((world.oracle.callers[call] ?? [:]).keys) }
        world.judge(.startCall(world.group, .audio), by: world.ann)
        #expect(devices() == [self.device(world.ann)])
        world.judge(.updateCall(call, .declined), by: world.cid)
        #expect(devices() == [self.device(world.ann)])
        world.judge(.updateCall(call, .accepted), by: world.bob)
        world.judge(.updateCall(call, .accepted), by: world.cid)
        #expect(devices() == [self.device(world.ann), self.device(world.bob), self.device(world.cid)])
        world.judge(.updateCall(call, .ended), by: world.bob)
        #expect(devices() == [self.device(world.ann), self.device(world.cid)], "bob left, and the call goes on")
        world.judge(.updateCall(call, .accepted), by: world.bob)
        #expect(devices().contains(self.device(world.bob)), "bob joins again")
    }

    /// A user who is no longer a member takes part in no call.
    @Test(arguments: ["leave", "remove", "ban"]) func aFormerMemberIsNotACaller(way: String) {
        let world = OracleWorld()
        world.judge(.startCall(world.group, .audio), by: world.ann)
        world.judge(.updateCall(world.at(1), .accepted), by: world.bob)
        let (action, actor): (Command.Action, UserKey) =
            switch way {
            case "leave": (.leave(world.group, forgets: false), world.bob)
            case "remove": (.remove(world.group, [world.bob]), world.ann)
            default: (.ban(world.group, [world.bob], isOn: true), world.ann)
            }
        #expect(world.judge(action, by: actor) == .accepted(seq: 3, n: 0))
        #expect(Set((world.oracle.callers[world.at(1)] ?? [:]).keys) == [self.device(world.ann)])
    }

    /// A disconnected device keeps the call of a pair, and must report again in a group.
    @Test(arguments: [true, false]) func aReconnectionEndsTheParticipationInAGroup(isGroup: Bool) {
        let world = OracleWorld()
        let key = isGroup ? world.group : world.pair
        let call = world.at(1, key)
        for user in [world.ann, world.bob] { world.oracle.connectedDevices.insert(self.device(user)) }
        world.judge(.startCall(key, .audio), by: world.ann)
        world.judge(.updateCall(call, .accepted), by: world.bob)
        #expect(world.oracle.callersThatKeep(call) == [self.device(world.ann), self.device(world.bob)])
        world.oracle.callerDisconnected(self.device(world.bob))
        let rest: Set = isGroup ? [self.device(world.ann)] : [self.device(world.ann), self.device(world.bob)]
        #expect(world.oracle.callersThatKeep(call) == rest)
        world.oracle.connectedDevices.insert(self.device(world.bob))
        #expect(world.oracle.callersThatKeep(call) == rest, "the connection alone is no report")
        world.judge(.updateCall(call, .accepted), by: world.bob)
        #expect(world.oracle.callersThatKeep(call) == [self.device(world.ann), self.device(world.bob)])
        // A report whose device is gone when it takes effect does not keep a call.
        world.oracle.callerDisconnected(self.device(world.bob))
        world.judge(.updateCall(call, .accepted), by: world.bob)
        #expect(world.oracle.callersThatKeep(call) == rest)
        #expect(world.oracle.callersThatKeep(world.at(9, key)).isEmpty)
    }
}

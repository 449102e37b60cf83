import NIOCore
import Testing

@testable import ApusConnectivity

@Suite struct NetlinkPathStateMachineTests {
    private typealias Content = NetlinkMessage.Content

    /// Returns the dump and sequence number of a request.
    private func request(_ action: NetlinkPathStateMachine.Action) throws -> (dump: NetlinkPathStateMachine.Dump?, sequence: UInt32) {
        guard case .request(let bytes) = action else {
            Issue.record("\(action)")
            return (nil, 0)
        }
        #expect(bytes.getInteger(at: 0, endianness: .host, as: UInt32.self) == UInt32(bytes.readableBytes))
        #expect(bytes.getInteger(at: 6, endianness: .host, as: UInt16.self) == 0x301)
        let type = try #require(bytes.getInteger(at: 4, endianness: .host, as: UInt16.self))
        return (NetlinkPathStateMachine.Dump(rawValue: type), try #require(bytes.getInteger(at: 8, endianness: .host, as: UInt32.self)))
    }

    private func news(_ content: Content) -> NetlinkMessage {
        NetlinkMessage(sequence: 0, isPartOfDump: false, isInterrupted: false, content: content)
    }

    private func answer(_ sequence: UInt32, _ content: Content, isInterrupted: Bool = false) -> NetlinkMessage {
        NetlinkMessage(sequence: sequence, isPartOfDump: true, isInterrupted: isInterrupted, content: content)
    }

    private let ethernet = NetlinkMessage.Link(index: 2, isLoopback: false, isUsable: true)
    private let address = NetlinkMessage.Address(index: 2, bytes: [10, 0, 0, 2], isGlobal: true, isUsable: true)
    private let route = NetlinkMessage.DefaultRoute(family: 2, index: 2, gateway: [10, 0, 0, 1], metric: 100)

    /// Answers three dumps, starting with `first`.
    private func run(
        _ machine: inout NetlinkPathStateMachine, _ first: NetlinkPathStateMachine.Action, _ links: [NetlinkMessage.Link],
        _ addresses: [NetlinkMessage.Address], _ routes: [NetlinkMessage.DefaultRoute]
    ) throws -> NetlinkPathStateMachine.Action {
        var (dump, sequence) = try self.request(first)
        #expect(dump == .links)
        for link in links { #expect(machine.receivedMessage(self.answer(sequence, .link(link, isGone: false))) == .doNothing) }
        (dump, sequence) = try self.request(machine.receivedMessage(self.answer(sequence, .done)))
        #expect(dump == .addresses)
        for address in addresses { #expect(machine.receivedMessage(self.answer(sequence, .address(address, isGone: false))) == .doNothing) }
        (dump, sequence) = try self.request(machine.receivedMessage(self.answer(sequence, .done)))
        #expect(dump == .routes)
        for route in routes { #expect(machine.receivedMessage(self.answer(sequence, .defaultRoute(route, isGone: false))) == .doNothing) }
        return machine.receivedMessage(self.answer(sequence, .done))
    }

    private func path(
        _ links: [NetlinkMessage.Link], _ addresses: [NetlinkMessage.Address] = [], _ routes: [NetlinkMessage.DefaultRoute] = []
    ) throws -> NetworkPath? {
        var machine = NetlinkPathStateMachine()
        guard case .report(let path) = try self.run(&machine, machine.opened(), links, addresses, routes) else { return nil }
        return path
    }

    @Test func usableRoutesAndAddresses() throws {
        let loopback = NetlinkMessage.Link(index: 1, isLoopback: true, isUsable: true)
        let down = NetlinkMessage.Link(index: 2, isLoopback: false, isUsable: false)
        let whole = try #require(try self.path([loopback, self.ethernet], [self.address], [self.route]))
        #expect(whole.isSatisfied && whole.hasDefaultRoute)
        #expect(whole.fingerprint == "default via 10.0.0.1 dev 2 metric 100 family 2, 10.0.0.2 dev 2")
        let local = try #require(try self.path([loopback, self.ethernet], [self.address]))
        #expect(local.isSatisfied && !local.hasDefaultRoute)
        #expect(try self.path([loopback, down], [self.address], [self.route])?.isSatisfied == false)
        #expect(try self.path([loopback], [self.address], [self.route])?.isSatisfied == false)
        var own = self.address
        own.index = 1
        #expect(try self.path([loopback], [own])?.isSatisfied == false)
        var other = self.address
        other.isGlobal = false
        #expect(try self.path([self.ethernet], [other])?.isSatisfied == false)
        other = self.address
        other.isUsable = false
        #expect(try self.path([self.ethernet], [other])?.isSatisfied == false)
        var shared = self.route
        shared.index = 0
        #expect(try self.path([], [], [shared])?.hasDefaultRoute == true)
    }

    @Test func theOrderOfTheAnswersDoesNotMatter() throws {
        var second = self.route
        second.gateway = [10, 0, 0, 9]
        let one = try self.path([self.ethernet], [self.address], [self.route, second])
        #expect(try self.path([self.ethernet], [self.address], [second, self.route]) == one)
        #expect(try self.path([self.ethernet], [self.address], [second]) != one)
    }

    @Test func aBurstOfNotificationsCausesOneRound() throws {
        var machine = NetlinkPathStateMachine()
        guard case .report = try self.run(&machine, machine.opened(), [self.ethernet], [], []) else { return #expect(Bool(false)) }
        #expect(machine.timerFired() == .doNothing)
        #expect(machine.receivedMessage(self.news(.otherRoute)) == .doNothing)
        #expect(machine.receivedMessage(self.news(.link(self.ethernet, isGone: true))) == .startTimer)
        #expect(machine.receivedMessage(self.news(.address(self.address, isGone: true))) == .doNothing)
        #expect(machine.receivedMessage(self.news(.defaultRoute(self.route, isGone: true))) == .doNothing)
        let action = try self.run(&machine, machine.timerFired(), [], [], [])
        #expect(action == .report(NetworkPath(isSatisfied: false, hasDefaultRoute: false, fingerprint: "")))
    }

    @Test func aNotificationDuringARoundCausesAnother() throws {
        var machine = NetlinkPathStateMachine()
        let first = machine.opened()
        #expect(machine.receivedMessage(self.news(.link(self.ethernet, isGone: false))) == .doNothing)
        guard case .reportAndStartTimer = try self.run(&machine, first, [self.ethernet], [], []) else { return #expect(Bool(false)) }
        guard case .report = try self.run(&machine, machine.timerFired(), [self.ethernet], [], []) else { return #expect(Bool(false)) }
    }

    @Test func anInconsistentDumpCausesAnother() throws {
        var machine = NetlinkPathStateMachine()
        var sequence = try self.request(machine.opened()).sequence
        #expect(machine.receivedMessage(self.answer(sequence, .link(self.ethernet, isGone: false), isInterrupted: true)) == .doNothing)
        sequence = try self.request(machine.receivedMessage(self.answer(sequence, .done))).sequence
        sequence = try self.request(machine.receivedMessage(self.answer(sequence, .done))).sequence
        guard case .reportAndStartTimer = machine.receivedMessage(self.answer(sequence, .done)) else { return #expect(Bool(false)) }
    }

    @Test func responsesToOtherRequestsAreIgnored() throws {
        var machine = NetlinkPathStateMachine()
        let sequence = try self.request(machine.opened()).sequence
        #expect(machine.receivedMessage(self.answer(sequence + 1, .done)) == .doNothing)
        #expect(machine.receivedMessage(self.news(.error(1))) == .doNothing)
        let acknowledgement = NetlinkMessage(sequence: sequence, isPartOfDump: false, isInterrupted: false, content: .error(0))
        #expect(machine.receivedMessage(acknowledgement) == .doNothing)
        _ = try self.request(machine.receivedMessage(self.answer(sequence, .done)))
    }

    @Test func aRefusalOrALossStartsOver() throws {
        var machine = NetlinkPathStateMachine()
        #expect(machine.lost() == .doNothing)
        let sequence = try self.request(machine.opened()).sequence
        #expect(
            machine.receivedMessage(NetlinkMessage(sequence: sequence, isPartOfDump: false, isInterrupted: false, content: .error(16)))
                == .reopen)
        #expect(machine.lost() == .reopen)
        machine = NetlinkPathStateMachine()
        _ = try self.run(&machine, machine.opened(), [], [], [])
        #expect(machine.receivedMessage(self.news(.overrun)) == .startTimer)
    }

    @Test func aPathKnowsWhichHostsItReaches() {
        let none = NetworkPath(isSatisfied: false, hasDefaultRoute: false, fingerprint: "")
        #expect(none.mayReach(host: "localhost") && none.mayReach(host: "127.0.0.1") && none.mayReach(host: "::1"))
        #expect(!none.mayReach(host: "example.com") && !none.mayReach(host: "10.0.0.1"))
        #expect(NetworkPath(isSatisfied: true, hasDefaultRoute: false, fingerprint: "").mayReach(host: "example.com"))
    }
}

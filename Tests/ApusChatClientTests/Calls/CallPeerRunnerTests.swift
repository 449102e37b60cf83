import ApusChatCore
import ApusChatProtocol
import Logging
import Testing

@testable import ApusChatClient

/// The negotiation with one other device, with a library whose steps fail.
@Suite("Connections of a call", .timeLimit(.minutes(5))) @MainActor
struct CallPeerRunnerTests {
    struct StepFailed: Error {}

    /// A connection that records its steps, and fails the named ones once.
    @MainActor
    final class StepConnection: CallConnection {
        var log: [String] = []
        var failing: [String]
        var report: @Sendable (CallConnectionEvent) -> Void = { _ in }

        init(failing: [String]) { self.failing = failing }

        private func step(_ name: String) throws {
            if let index = self.failing.firstIndex(of: name) {
                self.failing.remove(at: index)
                self.log.append("failed \(name)")
                throw StepFailed()
            }
            self.log.append(name)
        }

        func makeOffer() async throws -> CallDescription {
            try self.step("offer")
            return CallDescription(.offer, sdp: "own offer")
        }
        func makeAnswer() async throws -> CallDescription {
            try self.step("answer")
            return CallDescription(.answer, sdp: "own answer")
        }
        func setLocal(_ description: CallDescription) async throws { try self.step("local \(description.sdp)") }
        func rollBack() async throws { try self.step("rollback") }
        func setRemote(_ description: CallDescription) async throws { try self.step("remote \(description.sdp)") }
        func add(_ candidate: CallCandidate) async throws { try self.step("candidate \(candidate.text)") }
        func restartICE(_ configuration: CallConfiguration?) {
            self.log.append(configuration == nil ? "restart" : "restart with \(configuration?.servers.count ?? 0)")
        }
        func close() { self.log.append("close") }
    }

    @MainActor
    final class Stack: CallStack {
        let connection: StepConnection
        init(_ connection: StepConnection) { self.connection = connection }
        func open(_ media: CallMedia) async throws {}
        func connect(
            to peer: CallPeer.ID, configuration: CallConfiguration, isOffering: Bool,
            report: @escaping @Sendable (CallConnectionEvent) -> Void
        ) throws -> any CallConnection {
            self.connection.report = report
            return self.connection
        }
        func close() {}
    }

    /// A runner whose signals are recorded.
    @MainActor
    final class Fixture {
        let connection: StepConnection
        let clock = ScriptedClock()
        var sent: [CallSignal.Content] = []
        var lost = 0
        var changes = 0
        var isChatOnline = true
        private var storedRunner: CallPeerRunner?
        var runner: CallPeerRunner {
            guard let storedRunner else { preconditionFailure("set at the end of the initializer") }
            return storedRunner
        }

        init(isOffering: Bool, failing: [String] = []) throws {
            self.connection = StepConnection(failing: failing)
            var logger = Logger(label: "test")
            logger.logLevel = .critical
            let owner = CallPeerRunner.Owner(
                environment: self.clock.environment, logger: logger, isChatOnline: { [weak self] in self?.isChatOnline ?? false },
                send: { [weak self] in self?.sent.append($0) }, changed: { [weak self] in self?.changes += 1 },
                lost: { [weak self] in self?.lost += 1 })
            let id = CallPeer.ID(user: Value.bob, device: DeviceID(number: 1), session: "s1")
            self.storedRunner = try CallPeerRunner(
                id, isOffering: isOffering, configuration: CallConfiguration(), stack: Stack(self.connection), owner: owner)
        }

        /// Waits until the runner has made these steps since the last call.
        func steps(_ expected: String...) async throws {
            try await eventually { self.connection.log.count >= expected.count }
            for _ in 0..<50 { await Task.yield() }
            #expect(self.connection.log == expected)
            self.connection.log = []
        }

        /// Waits until the runner has sent these signals since the last call.
        func signals(_ expected: CallSignal.Content...) async throws {
            try await eventually { self.sent.count >= expected.count }
            for _ in 0..<50 { await Task.yield() }
            #expect(self.sent == expected)
            self.sent = []
        }
    }

    // MARK: Descriptions

    @Test func anOfferIsAnswered() async throws {
        let fixture = try Fixture(isOffering: true)
        fixture.connection.report(.negotiationNeeded)
        try await fixture.signals(.offer(sdp: "own offer"))
        fixture.runner.received(.answer(sdp: "their answer"))
        try await fixture.steps("offer", "local own offer", "remote their answer")
        // A repeated answer is one of no offer.
        fixture.runner.received(.answer(sdp: "their answer"))
        fixture.connection.report(.candidate(CallCandidate("c", mid: "0", index: 1, fragment: "f")))
        try await fixture.signals(.candidate(text: "c", mid: "0", index: 1, fragment: "f"))
        try await fixture.steps()
        fixture.runner.close()
    }

    /// A step that fails sends nothing, and the next negotiation succeeds.
    @Test(arguments: ["offer", "local own offer"]) func anOfferThatFailsIsMadeAgain(step: String) async throws {
        let fixture = try Fixture(isOffering: true, failing: [step])
        fixture.connection.report(.negotiationNeeded)
        try await eventually { fixture.connection.log.last == "failed \(step)" }
        #expect(fixture.sent.isEmpty)
        fixture.connection.report(.negotiationNeeded)
        try await fixture.signals(.offer(sdp: "own offer"))
        fixture.runner.close()
    }

    @Test(arguments: ["remote their offer", "answer", "local own answer"])
    func anAnswerThatFailsIsMadeToTheNextOffer(step: String) async throws {
        let fixture = try Fixture(isOffering: false, failing: [step])
        fixture.runner.received(.offer(sdp: "their offer"))
        try await eventually { fixture.connection.failing.isEmpty }
        for _ in 0..<50 { await Task.yield() }
        #expect(fixture.sent.isEmpty && fixture.connection.log.last == "failed \(step)")
        fixture.runner.received(.offer(sdp: "their offer"))
        try await fixture.signals(.answer(sdp: "own answer"))
        fixture.runner.close()
    }

    /// Two simultaneous offers: the device that did not make the first one gives way.
    @Test func thePoliteSideRollsItsOfferBack() async throws {
        let polite = try Fixture(isOffering: false)
        polite.connection.report(.negotiationNeeded)
        try await polite.signals(.offer(sdp: "own offer"))
        polite.runner.received(.offer(sdp: "their offer"))
        try await polite.signals(.answer(sdp: "own answer"))
        try await polite.steps("offer", "local own offer", "rollback", "remote their offer", "answer", "local own answer")
        polite.runner.close()
    }

    /// The candidates of an ignored offer can be wrong. Those of an accepted one are added.
    @Test func theImpoliteSideIgnoresTheOfferAndItsCandidates() async throws {
        let impolite = try Fixture(isOffering: true, failing: ["candidate 1"])
        impolite.connection.report(.negotiationNeeded)
        try await impolite.signals(.offer(sdp: "own offer"))
        impolite.runner.received(.offer(sdp: "their offer"))
        impolite.runner.received(.candidate(text: "1", mid: "0", index: nil, fragment: nil))
        impolite.runner.received(.answer(sdp: "their answer"))
        impolite.runner.received(.candidate(text: "2", mid: "0", index: nil, fragment: nil))
        try await impolite.steps("offer", "local own offer", "failed candidate 1", "remote their answer", "candidate 2")
        #expect(impolite.sent.isEmpty)
        impolite.runner.close()
    }

    // MARK: Repairs

    @Test func aReconnectionRepeatsTheOfferOrAnnouncesTheDevice() async throws {
        let waiting = try Fixture(isOffering: false)
        waiting.runner.resume()
        try await waiting.signals(.join())
        waiting.runner.close()
        let offering = try Fixture(isOffering: true)
        offering.connection.report(.negotiationNeeded)
        try await offering.signals(.offer(sdp: "own offer"))
        offering.runner.resume()
        try await offering.signals(.offer(sdp: "own offer"))
        offering.runner.received(.answer(sdp: "their answer"))
        offering.connection.report(.state(.connected))
        try await eventually { offering.runner.peer.connection == .connected }
        offering.runner.resume()
        try await offering.signals()
        offering.connection.report(.state(.disconnected))
        try await eventually { offering.runner.peer.connection == .disconnected }
        offering.connection.log = []
        offering.runner.resume()
        try await offering.steps("restart")
        #expect(offering.runner.peer.wasConnected)
        offering.runner.close()
    }

    /// New servers are passed to the library. Before the first description there are no paths to
    /// replace.
    @Test func aRestartHasTheNewServers() async throws {
        let fixture = try Fixture(isOffering: false)
        let server = CallServer(urls: ["turn:a.test"], username: "u", credential: "c")
        let configuration = CallConfiguration(CallServersAnswer(servers: [server], expiresAt: 9))
        fixture.runner.restartICE(configuration)
        fixture.runner.received(.offer(sdp: "their offer"))
        try await fixture.steps("remote their offer", "answer", "local own answer")
        fixture.runner.restartICE(configuration)
        fixture.runner.restartICE(nil)
        try await fixture.steps("restart with 1", "restart")
        fixture.runner.close()
    }

    /// The time without the chat does not count: no negotiation was possible.
    @Test(arguments: [true, false]) func aDeviceThatIsNotReachedIsGivenUpAfterTheLimit(isChatOnline: Bool) async throws {
        let fixture = try Fixture(isOffering: false)
        fixture.isChatOnline = isChatOnline
        try await eventually { fixture.clock.isWaiting(8_000) }
        var repairs = 0
        while fixture.lost == 0, repairs < 12 {
            fixture.clock.advance(by: 8_000)
            repairs += 1
            try await eventually { fixture.lost > 0 || fixture.clock.isWaiting(8_000) }
        }
        #expect(fixture.lost == (isChatOnline ? 1 : 0) && repairs == (isChatOnline ? 4 : 12))
        fixture.runner.close()
    }

    /// A closed connection sends and reports nothing, whatever arrives.
    @Test func aClosedConnectionIsSilent() async throws {
        let fixture = try Fixture(isOffering: true)
        fixture.runner.close()
        fixture.runner.close()
        fixture.connection.log = []
        for event in [CallConnectionEvent.negotiationNeeded, .state(.connected), .candidate(CallCandidate("c", mid: "0", index: nil))] {
            fixture.connection.report(event)
        }
        fixture.runner.received(.offer(sdp: "their offer"))
        fixture.runner.resume()
        fixture.runner.restartICE(nil)
        fixture.clock.advance(by: 60_000)
        for _ in 0..<200 { await Task.yield() }
        #expect(fixture.connection.log.isEmpty && fixture.sent.isEmpty && fixture.lost == 0 && fixture.changes == 0)
        #expect(fixture.runner.peer.connection == .connecting && !fixture.runner.peer.wasConnected)
    }
}

import Testing

@testable import ApusEngineIOProtocol

@Suite struct EngineIOTransportPlanTests {
    private func plan(
        _ transports: [EngineIOTransport], upgrades: Bool = true, triesAll: Bool = false, preferred: EngineIOTransport? = nil
    ) throws -> EngineIOTransportPlan {
        try EngineIOTransportPlan(transports: transports, upgrades: upgrades, triesAll: triesAll, preferred: preferred)
    }

    private static let offer = EngineIOHandshake(
        sid: "s", upgrades: ["websocket"], pingInterval: .seconds(25), pingTimeout: .seconds(20), maxPayload: 1000)

    private func upgrades(_ plan: EngineIOTransportPlan) -> Bool {
        var session = plan.session
        return session.receivedPacket(.open(Self.offer), over: plan.transport) == .opened(Self.offer, probe: .webSocket)
    }

    @Test func theFirstIsTheOneUnlessTheOthersAreTried() throws {
        var plan = try self.plan([.polling, .webSocket])
        #expect(plan.transport == .polling)
        #expect(self.upgrades(plan))
        #expect(plan.failed() == false)
        plan = try self.plan([.polling, .webSocket], triesAll: true)
        #expect(plan.failed() == true)
        #expect(plan.transport == .webSocket)
        #expect(plan.failed() == false)
    }

    @Test func aFailedTransportIsNotAnUpgrade() throws {
        var plan = try self.plan([.webSocket, .polling], triesAll: true)
        #expect(plan.failed() == true)
        #expect(plan.transport == .polling)
        #expect(!self.upgrades(plan))
        #expect(!self.upgrades(try self.plan([.polling, .webSocket], upgrades: false)))
        #expect(!self.upgrades(try self.plan([.polling])))
    }

    @Test func aRememberedUpgradeGoesFirst() throws {
        #expect(try self.plan([.polling, .webSocket], preferred: .webSocket).transport == .webSocket)
        #expect(try self.plan([.polling], preferred: .webSocket).transport == .polling)
    }

    @Test(arguments: EngineIOTransport.allCases)
    func aTransportIsAnUpgradeIfAnotherLeadsToIt(transport: EngineIOTransport) {
        #expect(EngineIOTransport.allCases.contains { $0.upgrades.contains(transport) } == transport.isUpgrade)
        #expect(!transport.upgrades.contains(transport))
    }

    @Test func thereMustBeOne() {
        let error = #expect(throws: EngineIOError.self) { try self.plan([]) }
        #expect(error?.code == .transportUnknown)
    }
}

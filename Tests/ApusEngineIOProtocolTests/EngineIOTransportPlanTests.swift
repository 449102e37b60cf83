import Testing

@testable import ApusEngineIOProtocol

@Suite struct EngineIOTransportPlanTests {
    private func plan(
        _ transports: [EngineIOTransport], upgrades: Bool = true, triesAll: Bool = false, prefersWebSocket: Bool = false
    ) throws -> EngineIOTransportPlan {
        try EngineIOTransportPlan(transports: transports, upgrades: upgrades, triesAll: triesAll, prefersWebSocket: prefersWebSocket)
    }

    private static let offer = EngineIOHandshake(
        sid: "s", upgrades: ["websocket"], pingInterval: .seconds(25), pingTimeout: .seconds(20), maxPayload: 1000)

    private func upgrades(_ plan: EngineIOTransportPlan) -> Bool {
        var session = plan.session
        return session.received(.open(Self.offer), over: plan.transport) == .opened(Self.offer, probe: true)
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

    @Test func whatFailedIsNoUpgrade() throws {
        var plan = try self.plan([.webSocket, .polling], triesAll: true)
        #expect(plan.failed() == true)
        #expect(plan.transport == .polling)
        #expect(!self.upgrades(plan))
        #expect(!self.upgrades(try self.plan([.polling, .webSocket], upgrades: false)))
        #expect(!self.upgrades(try self.plan([.polling])))
    }

    @Test func aRememberedUpgradeGoesFirst() throws {
        #expect(try self.plan([.polling, .webSocket], prefersWebSocket: true).transport == .webSocket)
        #expect(try self.plan([.polling], prefersWebSocket: true).transport == .polling)
    }

    @Test func thereMustBeOne() {
        let error = #expect(throws: EngineIOError.self) { try self.plan([]) }
        #expect(error?.code == .transportUnknown)
    }
}

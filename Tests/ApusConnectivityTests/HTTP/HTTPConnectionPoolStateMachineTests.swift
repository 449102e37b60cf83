import Testing

@testable import ApusConnectivity

@Suite struct HTTPConnectionPoolStateMachineTests {
    private func makePool(connections: Int = 2, waiting: Int = 2) -> HTTPConnectionPoolStateMachine {
        HTTPConnectionPoolStateMachine(maximumConnections: connections, maximumWaiting: waiting)
    }

    @Test func aConnectionIsMadeAndKeptForTheNextRequest() {
        var pool = self.makePool()
        #expect(pool.requested(1) == .connect(1))
        #expect(pool.ready(1) == .send(1))
        #expect(pool.ready(1) == .park)
        #expect(pool.requested(2) == .send(on: 1))
        #expect(pool.ready(1) == .park)
    }

    @Test func theNumberOfConnectionsIsLimited() {
        var pool = self.makePool()
        #expect(pool.requested(1) == .connect(1))
        #expect(pool.requested(2) == .connect(2))
        #expect(pool.ready(1) == .send(1))
        #expect(pool.ready(2) == .send(2))
        #expect(pool.requested(3) == .wait)
        #expect(pool.requested(4) == .wait)
        #expect(pool.requested(5) == .refuse(.full(2)))
        #expect(pool.ready(2) == .send(3))
        #expect(pool.ready(1) == .send(4))
        #expect(pool.ready(1) == .park)
        #expect(pool.ready(2) == .park)
        #expect(pool.requested(6) == .send(on: 2))
    }

    @Test func anOpeningConnectionServesOneWaitingRequest() {
        var pool = self.makePool()
        #expect(pool.requested(1) == .connect(1))
        #expect(pool.ready(1) == .send(1))
        #expect(pool.requested(2) == .connect(2))
        // The first becomes idle before the second is open: the second is kept for later.
        #expect(pool.ready(1) == .send(2))
        #expect(pool.ready(2) == .park)
    }

    @Test func aFailedConnectionFailsItsRequest() {
        var pool = self.makePool(connections: 1)
        #expect(pool.requested(1) == .connect(1))
        #expect(pool.requested(2) == .wait)
        #expect(pool.lost(1) == .init(fail: 1, connect: 2))
        #expect(pool.ready(2) == .send(2))
        // The end of a busy or idle connection does not fail waiting requests.
        #expect(pool.requested(3) == .wait)
        #expect(pool.lost(2) == .init(fail: nil, connect: 3))
        #expect(pool.ready(3) == .send(3))
        #expect(pool.ready(3) == .park)
        #expect(pool.lost(3) == .init(fail: nil, connect: nil))
        #expect(pool.lost(3) == .init(fail: nil, connect: nil))
        #expect(pool.isEmpty)
    }

    @Test func aRepeatedRequestComesFirst() {
        var pool = self.makePool(connections: 1)
        #expect(pool.requested(1) == .connect(1))
        #expect(pool.ready(1) == .send(1))
        #expect(pool.requested(2) == .wait)
        #expect(pool.requested(3) == .wait)
        #expect(pool.lost(1) == .init(fail: nil, connect: 2))
        #expect(pool.requested(1, isRetry: true) == .wait)
        #expect(pool.ready(2) == .send(1))
        #expect(pool.ready(2) == .send(2))
    }

    @Test func aCancelledRequestClosesItsConnection() {
        var pool = self.makePool(connections: 1)
        #expect(pool.requested(1) == .connect(1))
        #expect(pool.requested(2) == .wait)
        #expect(pool.cancelled(1) == .forget)
        #expect(pool.ready(1) == .send(2))
        #expect(pool.cancelled(2) == .close(1))
        #expect(pool.lost(1) == .init(fail: nil, connect: nil))
        #expect(pool.cancelled(2) == .forget)
        #expect(pool.isEmpty)
    }

    @Test func finishingLetsAcceptedRequestsComplete() {
        var pool = self.makePool()
        #expect(pool.requested(1) == .connect(1))
        #expect(pool.ready(1) == .send(1))
        #expect(pool.requested(2) == .connect(2))
        #expect(pool.ready(2) == .send(2))
        #expect(pool.requested(3) == .wait)
        #expect(pool.finish() == [])
        #expect(pool.requested(4) == .refuse(.finishing))
        #expect(pool.ready(1) == .send(3))
        #expect(pool.ready(2) == .close)
        #expect(pool.ready(1) == .close)
        #expect(pool.ready(1) == .close)
        #expect(pool.isEmpty)
    }

    @Test func finishingClosesConnectionsThatAreNotNeeded() {
        var pool = self.makePool()
        #expect(pool.requested(1) == .connect(1))
        #expect(pool.ready(1) == .send(1))
        #expect(pool.ready(1) == .park)
        #expect(pool.finish() == [1])
        pool = self.makePool()
        #expect(pool.requested(1) == .connect(1))
        #expect(pool.cancelled(1) == .forget)
        #expect(pool.finish() == [1])
        #expect(pool.ready(1) == .close)
        #expect(pool.isEmpty)
    }
}

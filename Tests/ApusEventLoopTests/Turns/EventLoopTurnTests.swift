import ApusEventLoop
import NIOCore
import NIOEmbedded
import Testing

@Suite struct EventLoopTurnTests {
    /// A worker that sends some of its messages in each turn.
    private final class Worker: EventLoopWorker {
        let name: String
        var messages: Int
        let turn: EventLoopTurn
        let loop: EmbeddedEventLoop
        var isLight: Bool
        var log: Log

        final class Log { var names: [String] = [] }

        init(_ name: String, _ messages: Int, isLight: Bool, _ turn: EventLoopTurn, _ loop: EmbeddedEventLoop, _ log: Log) {
            (self.name, self.messages, self.isLight, self.turn, self.loop, self.log) = (name, messages, isLight, turn, loop, log)
            turn.deferWork(self, isLight: isLight, on: loop)
        }

        func resumeWork() {
            self.log.names.append(self.name)
            while self.messages > 0, !self.turn.isFull {
                self.messages -= 1
                self.turn.delivered()
            }
            if self.messages > 0 { self.turn.deferWork(self, isLight: self.isLight, on: self.loop) }
        }
    }

    private static let maximum = EventLoopTurn.maximumDeliveries
    private static let pause = TimeAmount.microseconds(50)

    @Test func aTurnIsFullAtTheMaximumAndEmptyAfterItsEnd() {
        let turn = EventLoopTurn()
        for _ in 0..<(Self.maximum - 1) { turn.delivered() }
        #expect(!turn.isFull)
        turn.delivered()
        #expect(turn.isFull)
        turn.ended()
        #expect(!turn.isFull)
    }

    /// `execute` would run before the loop polls its sockets.
    @Test func deferredWorkWaitsForATimer() {
        let (turn, loop, log) = (EventLoopTurn(), EmbeddedEventLoop(), Worker.Log())
        let worker = Worker("a", 1, isLight: true, turn, loop, log)
        loop.run()
        #expect(worker.messages == 1)
        loop.advanceTime(by: Self.pause)
        #expect(worker.messages == 0)
    }

    @Test func aLongWorkerResumesInTurnsAfterTheLightOnes() {
        let (turn, loop, log) = (EventLoopTurn(), EmbeddedEventLoop(), Worker.Log())
        let share = Self.maximum / 4
        let workers = (0..<5).map { Worker("\($0)", 2 * share, isLight: false, turn, loop, log) }
        loop.advanceTime(by: Self.pause)
        #expect(workers.map { $0.messages / share } == [1, 1, 1, 1, 2])
        _ = Worker("light", 1, isLight: true, turn, loop, log)
        for _ in 0..<3 { loop.advanceTime(by: Self.pause) }
        #expect(workers.allSatisfy { $0.messages == 0 })
        #expect(log.names.prefix(6) == ["0", "1", "2", "3", "light", "4"])
    }

    /// A worker that counts as light has a small share, so that later workers do not wait for all
    /// its work.
    @Test func aLightWorkerHasASmallShare() {
        let (turn, loop, log) = (EventLoopTurn(), EmbeddedEventLoop(), Worker.Log())
        let (many, few) = (Worker("many", 1000, isLight: true, turn, loop, log), Worker("few", 1, isLight: true, turn, loop, log))
        loop.advanceTime(by: Self.pause)
        #expect((many.messages, few.messages) == (1000 - EventLoopTurn.lightDeliveries, 0))
    }

    /// With deferred work, the turn continues until the loop has polled its sockets.
    @Test func theEndOfTheTasksDoesNotEndATurnWithDeferredWork() {
        let (turn, loop, log) = (EventLoopTurn(), EmbeddedEventLoop(), Worker.Log())
        for _ in 0..<Self.maximum { turn.delivered() }
        _ = Worker("a", 1, isLight: false, turn, loop, log)
        turn.ended()
        #expect(turn.isFull)
        loop.advanceTime(by: Self.pause)
        turn.ended()
        #expect(!turn.isFull)
    }

    @Test func collectedWritesAreFlushedAfterTheLightWorkers() {
        let (turn, loop, log) = (EventLoopTurn(), EmbeddedEventLoop(), Worker.Log())
        turn.flush = { log.names.append("flush") }
        _ = Worker("heavy", 1, isLight: false, turn, loop, log)
        _ = Worker("light", 1, isLight: true, turn, loop, log)
        loop.advanceTime(by: Self.pause)
        #expect(log.names == ["light", "flush", "heavy", "flush"])
    }

    // MARK: Between event loops

    @Test func aLoopThatHandsOverTooMuchWaitsUntilTheOtherHasDelivered() {
        let backlog = DeliveryBacklog()
        let (near, far) = (EventLoopTurn(backlog: backlog), EventLoopTurn(backlog: backlog))
        let (loop, farLoop, log) = (EmbeddedEventLoop(), EmbeddedEventLoop(), Worker.Log())
        #expect(!backlog.handOver(DeliveryBacklog.maximumDeliveries))
        #expect(backlog.handOver(1))
        near.fill()
        #expect(near.isFull)
        let worker = Worker("a", 1, isLight: false, near, loop, log)
        let light = Worker("b", 1, isLight: true, near, loop, log)
        for _ in 0..<10 { loop.advanceTime(by: Self.pause) }
        #expect((worker.messages, light.messages) == (1, 0))
        far.settle(DeliveryBacklog.maximumDeliveries + 1, on: farLoop)
        #expect(!backlog.hasRoom)  // the other loop has not polled its sockets
        farLoop.advanceTime(by: Self.pause)
        #expect(backlog.hasRoom)
        loop.advanceTime(by: Self.pause)
        #expect(worker.messages == 0)
    }
}

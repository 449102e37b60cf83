import NIOCore
import NIOEmbedded
import Testing

@testable import ApusEngineIOServer

@Suite struct MovableTimerTests {
    private final class Holder {
        let eventLoop = EmbeddedEventLoop()
        var timer = MovableTimer()
        var looks = 0
        var isUp = false

        func move(to seconds: Int64, atMost: TimeAmount? = nil) {
            self.timer.move(to: NIODeadline.uptimeNanoseconds(0) + TimeAmount.seconds(seconds), atMost: atMost, on: self.eventLoop) {
                self.fired()
            }
        }

        private func fired() {
            self.looks += 1
            if self.timer.fired(on: self.eventLoop, { self.fired() }) { self.isUp = true }
        }
    }

    @Test func aLaterDeadlineLeavesTheTimerAlone() {
        let holder = Holder()
        holder.move(to: 20)
        holder.eventLoop.advanceTime(by: .seconds(1))
        holder.move(to: 26)
        holder.eventLoop.advanceTime(by: .seconds(24))
        #expect((holder.looks, holder.isUp) == (1, false))
        holder.eventLoop.advanceTime(by: .seconds(1))
        #expect((holder.looks, holder.isUp) == (2, true))
    }

    @Test func anEarlierDeadlineIsKept() {
        let holder = Holder()
        holder.move(to: 20)
        holder.move(to: 5)
        holder.eventLoop.advanceTime(by: .seconds(5))
        #expect((holder.looks, holder.isUp) == (1, true))
        holder.eventLoop.advanceTime(by: .seconds(60))
        #expect(holder.looks == 1)
    }

    @Test func withALongestSleepTheTimerIsNeverCancelled() {
        let holder = Holder()
        holder.move(to: 75, atMost: .seconds(10))
        holder.eventLoop.advanceTime(by: .seconds(25))
        #expect((holder.looks, holder.isUp) == (2, false))
        holder.move(to: 35, atMost: .seconds(10))
        holder.eventLoop.advanceTime(by: .seconds(9))
        #expect(!holder.isUp)
        holder.eventLoop.advanceTime(by: .seconds(1))
        #expect(holder.isUp)
    }

    @Test func stoppedMeansNothingIsWaitedFor() {
        let holder = Holder()
        holder.move(to: 5)
        holder.timer.stop()
        holder.eventLoop.advanceTime(by: .seconds(100))
        #expect((holder.looks, holder.isUp) == (1, false))
        holder.move(to: 105)
        holder.eventLoop.advanceTime(by: .seconds(5))
        #expect(holder.isUp)
        holder.isUp = false
        holder.move(to: 110)
        holder.timer.cancel()
        holder.eventLoop.advanceTime(by: .seconds(5))
        #expect(!holder.isUp)
    }
}

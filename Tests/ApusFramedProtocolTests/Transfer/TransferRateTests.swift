import Testing

@testable import ApusFramedProtocol

@Suite struct TransferRateTests {
    @Test(arguments: [1 << 10, 100_000, 10_000_000, 1 << 40]) func theRateIsNotExceeded(bytesPerSecond: Int) {
        var rate = TransferRate(bytesPerSecond: bytesPerSecond)
        var now = Duration.seconds(1_000)
        let end = now + .seconds(20)
        var sent = 0
        var count = 0
        while now < end, count < 100_000 {
            if let pause = rate.pause(at: now) {
                #expect(pause > .zero && pause <= .seconds(2))
                now += pause
            } else {
                rate.sent(rate.chunkBytes)
                sent += rate.chunkBytes
                count += 1
            }
        }
        // At most an eighth of a second and one chunk ahead, and never behind.
        let seconds: Double = (now - .seconds(1_000)) / .seconds(1) + 0.125
        let allowed: Double = Double(bytesPerSecond) * seconds + Double(rate.chunkBytes)
        #expect(Double(sent) <= allowed)
        if count < 100_000 { #expect(Double(sent) >= Double(bytesPerSecond) * 19.9) }
    }

    @Test func aPauseIsNotFollowedByABurst() {
        var rate = TransferRate(bytesPerSecond: 80_000)
        #expect(rate.chunkBytes == 10_000)
        #expect(rate.pause(at: .zero) == nil)
        var count = 0
        while rate.pause(at: .seconds(3600)) == nil, count < 100 {
            rate.sent(rate.chunkBytes)
            count += 1
        }
        #expect(count == 2)
    }

    @Test func aClockThatGoesBackIsNotAGain() {
        var rate = TransferRate(bytesPerSecond: 8_000)
        #expect(rate.pause(at: .seconds(10)) == nil)
        rate.sent(9_000)
        #expect(rate.pause(at: .seconds(5)) != nil)
        #expect(rate.pause(at: .seconds(10)) == .seconds(1) + .nanoseconds(1))
        #expect(rate.pause(at: .seconds(11.01)) == nil)
    }

    @Test func chunksAreSmallWhereTheRateIs() {
        #expect(TransferRate(bytesPerSecond: -1).chunkBytes == 1024)
        #expect(TransferRate(bytesPerSecond: 1 << 40).chunkBytes == TransferChunk.maximumBytes)
    }
}

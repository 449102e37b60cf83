import ApusChatCore
import ApusChatProtocol
import ApusChatService
import NIOConcurrencyHelpers
import Testing

/// The close of all connections at a shutdown.
@Suite(.timeLimit(.minutes(5)))
struct ByeTests {
    @Test func clientsReceiveDifferentTimesToReturn() async throws {
        let asked = NIOLockedValueBox<[ClosedRange<Int64>]>([])
        let random: @Sendable (ClosedRange<Int64>) -> Int64 = { range in
            asked.withLockedValue { asked in
                asked.append(range)
                return range.lowerBound + Int64(asked.count) * 17
            }
        }
        try await withService(configure: { $0.random = random }) { fixture in
            var peers: [ChatPeer] = []
            for device in 0..<5 { peers.append(try await fixture.client("alice", device: Int64(device))) }
            peers.append(try await fixture.client("bob"))
            fixture.gateway.announceShutdown()
            var times: [Int64] = []
            for peer in peers {
                let bye = try await peer.next(ChatPushes.bye)
                #expect(bye.reason == .shutdown)
                times.append(try #require(bye.retryAfter))
            }
            let range = ReconnectionSpread(connections: peers.count).range
            #expect(times.sorted() == (1...6).map { range.lowerBound + $0 * 17 })
            #expect(asked.withLockedValue { $0 } == Array(repeating: range, count: 6))
        }
    }

    @Test func theTimesOfTheSystemAreWithinTheBounds() async throws {
        try await withService { fixture in
            var peers: [ChatPeer] = []
            for device in 0..<8 { peers.append(try await fixture.client("alice", device: Int64(device))) }
            fixture.gateway.announceShutdown()
            var times: Set<Int64> = []
            for peer in peers { times.insert(try #require(try await peer.next(ChatPushes.bye).retryAfter)) }
            let range = ReconnectionSpread(connections: peers.count).range
            #expect(times.allSatisfy { range.contains($0) })
            #expect(times.count > 1, "8 equal times of 1,001 are no chance")
        }
    }
}

import ApusChatCore
import Testing

@Suite struct ReconnectionSpreadTests {
    @Test(
        arguments: [
            (0, 1_000...2_000), (1, 1_000...2_000), (2_000, 1_000...2_000), (10_000, 1_000...6_000), (20_000, 1_000...11_000),
            (.max, 1_000...11_000), (-1, 1_000...2_000),
        ] as [(Int, ClosedRange<Int64>)])
    func theTimesGrowWithTheNumberOfClients(connections: Int, range: ClosedRange<Int64>) {
        #expect(ReconnectionSpread(connections: connections).range == range)
    }
}

import ApusConnectivity
import ApusEventLoop
import Testing

@Suite struct ConnectivityErrorTests {
    @Test func theCodeDecidesWhetherToRetry() {
        #expect(RetryDecision(classifying: ConnectivityError(.pinMismatch, message: "")) == .giveUp)
        #expect(RetryDecision(classifying: ConnectivityError(.connectFailed, message: "")) == .retry)
    }
}

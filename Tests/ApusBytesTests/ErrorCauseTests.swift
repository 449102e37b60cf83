import ApusBytes
import Testing

@Suite struct ErrorCauseTests {
    private struct Fault: Error {}

    @Test func doesNotTakePartInComparisons() {
        #expect(ErrorCause(Fault()) == ErrorCause(nil))
        #expect(Set([ErrorCause(Fault()), ErrorCause(nil)]).count == 1)
    }

    @Test func followsTheMessage() {
        #expect(ErrorCause(nil).description(of: "closed", "the peer left") == "closed: the peer left")
        #expect(ErrorCause(Fault()).description(of: "closed", "the peer left") == "closed: the peer left (Fault())")
        #expect(ErrorCause(Fault()).description(of: "closed", "the peer left") { _ in "x" } == "closed: the peer left (x)")
    }
}

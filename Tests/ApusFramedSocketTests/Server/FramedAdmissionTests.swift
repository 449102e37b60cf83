@testable import ApusFramedSocket
import Testing

@Suite struct FramedAdmissionTests {
    @Test func capsInAllAndByAddress() {
        var admission = FramedAdmission(maximumConnections: 3, maximumConnectionsPerAddress: 2)
        #expect(admission.opened(from: "a") == true)
        #expect(admission.opened(from: "a") == true)
        #expect(admission.opened(from: "a") == false)
        #expect(admission.opened(from: nil) == true)
        #expect(admission.opened(from: "b") == false)
        #expect(admission.count == 3)
        admission.closed(from: "a")
        #expect(admission.opened(from: "b") == true)
        admission.closed(from: "a")
        admission.closed(from: "b")
        admission.closed(from: nil)
        #expect(admission.count == 0 && admission.addressCount == 0)
    }

    @Test func nobodyIsLetInWhileItGoesDown() {
        var admission = FramedAdmission(maximumConnections: 3, maximumConnectionsPerAddress: 2)
        admission.drain()
        #expect(admission.opened(from: nil) == false)
    }
}

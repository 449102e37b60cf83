import ApusCommandSupport
import ApusConnectivity
import ApusEngineIOProtocol
import ApusSocketIOProtocol
import NIOCore
import Testing

@Suite struct ErrorTextTests {
    @Test func theInnermostMessageAndTheSystemsReasonAreShown() {
        let inner = ConnectivityError(.connectFailed, message: "could not connect", cause: IOError(errnoCode: 2, reason: "connect(a:b:)"))
        let engine = EngineIOError(.transportError, message: "the HTTP request failed: could not connect", cause: inner)
        let outer = SocketIOError(.transport, message: "the connection to the server failed", cause: engine)
        #expect(ErrorText.line(outer) == "could not connect (No such file or directory)")
        #expect(ErrorText.connectivity(outer) == inner)
        #expect(ErrorText.line(SocketIOError(.closed, message: "closed")) == "closed")
        #expect(ErrorText.connectivity(SocketIOError(.closed, message: "closed")) == nil)
        #expect(ErrorText.line(CancellationError()) == "CancellationError()")
    }
}

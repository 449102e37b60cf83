import ApusChatProtocol
import Testing

@testable import ApusChatClient

@Suite(.timeLimit(.minutes(1))) struct ChatHTTPTests {
    /// Port 0 is one of the settings that the dialer refuses before there is a socket.
    @Test func settingsThatCannotConnectRefuseNoMessage() async throws {
        let http = try ChatHTTP(server: "http://127.0.0.1:0", configuration: ChatClientConfiguration())
        defer { http.shutdown() }
        let error = await #expect(throws: ChatClientError.self) { try await http.upload([1], type: "image/png") }
        #expect(error?.code == .unreachable)
        #expect(error?.isFinal == false)
    }
}

import ApusChatProtocol
import Testing

@testable import ApusChatClient

@Suite(.timeLimit(.minutes(1))) struct ChatHTTPTests {
    /// The dialer refuses some settings, for example port 0, before it opens a socket.
    @Test func settingsThatCannotConnectRefuseNoMessage() async throws {
        let http = try ChatHTTP(server: "http://127.0.0.1:0", configuration: ChatClientConfiguration())
        defer { http.shutdown() }
        let error = await #expect(throws: ChatClientError.self) { try await http.upload([1], type: "image/png") }
        #expect(error?.code == .unreachable)
        #expect(error?.isFinal == false)
    }
}

import ApusEventLoop
@testable import ApusWebSocket
import Testing

@Suite(.timeLimit(.minutes(5))) struct WebSocketSessionStatesTests {
    /// Finishing the stream calls its termination handler synchronously, within the end of the
    /// session.
    @Test func aStreamOfStatesOutlivesItsSession() async throws {
        var session: WebSocketSession? = WebSocketSession("ws://127.0.0.1:1/")
        let streams = [
            try #require(session).states(bufferingPolicy: .unbounded), try #require(session).states(bufferingPolicy: .unbounded),
        ]
        for stream in streams {
            for await state in stream {
                #expect(state == .idle)
                break
            }
        }
        session = nil
        var seen: [WebSocketSession.State] = []
        for stream in streams {
            for await state in stream { seen.append(state) }
        }
        #expect(seen == [.closedByUser, .closedByUser])
    }
}

import ApusEventLoop
import ApusSocketIOClient
import ApusSocketIOProtocol
import Testing

@Suite(.timeLimit(.minutes(5))) struct SocketAttachmentsTests {
    @Test func missingAttachmentsCauseAReconnection() async throws {
        try await ScriptedServer.run { server in
            let manager = server.makeManager { $0.attachmentsTimeout = .milliseconds(50) }
            let socket = manager.defaultSocket
            let lifecycle = socket.lifecycle(bufferingPolicy: .unbounded)
            socket.open()
            var peer = try await server.nextPeer()
            await peer.letIn()
            peer.say(#"451-["e",{"_placeholder":true,"num":0}]"#)
            for await event in lifecycle {
                guard case .disconnect(let reason) = event else { continue }
                #expect(reason == .parseError)
                break
            }
            peer = try await server.nextPeer()
            await peer.letIn()
            try await socket.connect(timeout: .seconds(60))
            await manager.close()
        }
    }
}

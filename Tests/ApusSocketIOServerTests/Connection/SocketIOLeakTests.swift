import ApusEngineIOProtocol
import ApusSocketIOProtocol
import ApusSocketIOServer
import ApusTesting
import HTTPTypes
import Logging
import NIOConcurrencyHelpers
import NIOCore
import NIOEmbedded
import Testing

/// Clients leave no objects behind. `Benchmarks/leaks.py` checks the memory of the whole process.
@Suite struct SocketIOLeakTests {
    private final class Weak: @unchecked Sendable {
        weak var socket: SocketIOServerSocket?
        init(_ socket: SocketIOServerSocket) { self.socket = socket }
    }

    private let server = SocketIOServer(logger: Logger(label: "test"))
    private let seen = NIOLockedValueBox<[Weak]>([])

    private func makeRoot() -> SocketIONamespace {
        let root = self.server.namespace("/")
        root.onConnection { socket in
            self.seen.withLockedValue { $0.append(Weak(socket)) }
            // Handlers that capture their socket, as is usual in applications.
            socket.on("join") { (room: String) in
                socket.join(room)
                return socket.rooms.count
            }
            socket.on("leave") { (room: String) in socket.leave(room) }
        }
        return root
    }

    @Test func clientsThatVanishLeaveNothing() throws {
        let root = self.makeRoot()
        let eventLoop = EmbeddedEventLoop()
        for index in 0..<50 {
            let client = try PollingClient(self.server, over: EmbeddedHTTPConnection(self.server.channelHandlers(), on: eventLoop))
            try client.connect()
            try client.post(#"20["join","all"]"#, #"21["join","own \#(index)"]"#)
        }
        #expect(root.sockets.count == 50)
        #expect(root.sockets(in: "all").count == 50)
        eventLoop.advanceTime(by: .seconds(45))
        #expect(self.server.clientCount == 0)
        #expect(root.sockets.isEmpty)
        #expect(root.sockets(in: "all").isEmpty)
        eventLoop.advanceTime(by: .seconds(60))
        // A leaked timer, room or handler would hold its socket.
        #expect(self.seen.withLockedValue { $0.allSatisfy { $0.socket == nil } })
    }

    @Test func emptiedRoomsAreRemoved() throws {
        let root = self.makeRoot()
        let client = try PollingClient(self.server)
        try client.connect()
        for index in 0..<1000 { try client.post(#"2["join","room \#(index)"]"#, #"2["leave","room \#(index)"]"#) }
        let socket = try #require(root.sockets.first)
        #expect(socket.rooms == [socket.id])
        #expect(root.sockets(in: "room 7").isEmpty)
    }

    @Test func abandonedHandshakesAreRemoved() throws {
        let eventLoop = EmbeddedEventLoop()
        let http = try EmbeddedHTTPConnection(self.server.channelHandlers(), on: eventLoop)
        for _ in 0..<1000 { #expect(try http.exchange(.get, "/socket.io/?EIO=4&transport=polling")?.status == 200) }
        #expect(self.server.clientCount == 1000)
        eventLoop.advanceTime(by: .seconds(45))
        #expect(self.server.clientCount == 0)
    }
}

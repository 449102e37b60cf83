import ApusJSON
import NIOCore
import NIOPosix
import Testing

@testable import ApusChatServer

/// The Unix socket of the operator, with valid and invalid input.
@Suite(.timeLimit(.minutes(5)))
struct AdministrationSocketTests {
    /// Writes parts to the socket of a server and returns its answer.
    private func exchange(_ server: RunningServer, _ parts: [String]) async throws -> JSONValue {
        let channel = try await ClientBootstrap(group: .singletonMultiThreadedEventLoopGroup).connect(
            unixDomainSocketPath: server.folder + "/" + AdministrationSocket.name
        ) { channel in
            channel.eventLoop.makeCompletedFuture { try NIOAsyncChannel<ByteBuffer, ByteBuffer>(wrappingChannelSynchronously: channel) }
        }
        return try await channel.executeThenClose { inbound, outbound in
            for part in parts { try await outbound.write(ByteBuffer(string: part)) }
            var all = ByteBuffer()
            do { for try await part in inbound { all.writeImmutableBuffer(part) } } catch is IOError {}
            #expect(all.readableBytesView.last == 0x0A, "the answer is a line")
            return try JSONReader.read(Array(all.readableBytesView))
        }
    }

    /// Each case is a line in parts, and whether its answer is a text or an error.
    @Test func eachLineIsAnsweredOnce() async throws {
        try await RunningServer.with { server in
            let lines: [(parts: [String], isAnswered: Bool)] = [
                (["[\"accounts\"]\n"], true), (["[\"acc", "ounts\"", "]", "\n"], true), (["[\"accounts\"]\n[\"accounts\"]\n"], true),
                ([" [ \"accounts\" ] \r\n"], true), (["[\"accounts\"]\njunk"], true),
                (["\n"], false), (["[\n"], false), (["accounts\n"], false), (["{}\n"], false), (["[]\n"], false), (["null\n"], false),
                (["\"accounts\"\n"], false), (["[[\"accounts\"]]\n"], false), (["[1,2]\n"], false), (["[\"fly\"]\n"], false),
                (["[\"accounts\",\"a\",\"b\"]\n"], false), (["[\"accounts\"]]\n"], false), (["\u{0}\n"], false),
            ]
            for (parts, isAnswered) in lines {
                let answer = try #require(try await self.exchange(server, parts).objectValue)
                #expect(answer.count == 1, "\(parts)")
                #expect((answer["text"]?.stringValue != nil) == isAnswered, "\(parts)")
                #expect((answer["error"]?.stringValue?.isEmpty == false) == !isAnswered, "\(parts)")
            }
        }
    }

    @Test func wordsWithoutTextAreOmitted() async throws {
        try await RunningServer.with { server in
            let text = try await self.exchange(server, ["[1,\"stats\",null]\n"])["text"]?.stringValue
            #expect(text?.hasPrefix("accounts\t0\n") == true)
        }
    }

    @Test func aLineThatIsTooLongIsRefused() async throws {
        try await RunningServer.with { server in
            let line = "[\"" + String(repeating: "a", count: (64 << 10) - 1)
            let refusal = try await self.exchange(server, [line])["error"]?.stringValue
            #expect(refusal?.contains("65536 bytes") == true)
            // A line of the maximum length is read.
            let longest = "[\"" + String(repeating: "a", count: (64 << 10) - 4) + "\"]\n"
            let help = try await self.exchange(server, [longest])["error"]?.stringValue
            #expect(help?.contains("password-code NAME") == true)
        }
    }

    /// A connection that closes before the end of its line does not affect the next one.
    @Test func anEarlyEndAffectsNoOtherConnection() async throws {
        try await RunningServer.with { server in
            for text in ["", "[\"accounts\""] {
                let channel = try await ClientBootstrap(group: .singletonMultiThreadedEventLoopGroup).connect(
                    unixDomainSocketPath: server.folder + "/" + AdministrationSocket.name
                ).get()
                try await channel.writeAndFlush(ByteBuffer(string: text))
                try await channel.close()
            }
            #expect(try await AdministrationSocket.request(["accounts"], in: server.folder)?["text"] == "")
        }
    }

    @Test func withoutAServerThereIsNoAnswer() async throws {
        try await RunningServer.with { server in
            try await server.stop()
            #expect(try await AdministrationSocket.request(["accounts"], in: server.folder) == nil)
            #expect(try await AdministrationSocket.request(["accounts"], in: server.folder + "/none") == nil)
        }
    }
}

import ApusFramedProtocol
@testable import ApusFramedSocket
import ApusJSON
import Foundation
import NIOConcurrencyHelpers
import NIOCore
import Testing

/// Tests of client and server over the loopback.
@Suite struct FramedLoopbackTests {
    @Test(.timeLimit(.minutes(5))) func aTaskThatIsCancelledTakesNoOthersMessage() async throws {
        try await withServer(echoServer()) { port in
            let connection = try await FramedClient.connect(host: "127.0.0.1", port: port)
            let (started, start) = AsyncStream.makeStream(of: Void.self)
            let reader = Task {
                var messages = connection.messages.makeAsyncIterator()
                start.yield()
                return try await messages.next()?.header
            }
            for await _ in started { break }
            // Cancelled before its request: it must not cancel the waiting reader.
            for _ in 0..<100 {
                let other = Task {
                    withUnsafeCurrentTask { $0?.cancel() }
                    var messages = connection.messages.makeAsyncIterator()
                    return try await messages.next()?.header
                }
                #expect(try await other.value == nil)
            }
            try await connection.send(header: ["a": 1])
            #expect(try await reader.value == ["a": 1])
            await connection.close()
        }
    }

    private static let framings: [(server: Framing, client: Framing)] = [
        (.version2, .version2), (.fixedHeader(length: 100), .fixedHeader(length: 100)), (.either(), .version2),
        (.either(headerLength: 64), .fixedHeader(length: 64)),
    ]

    @Test(.timeLimit(.minutes(5)), arguments: framings)
    func messagesComeBack(server: Framing, client: Framing) async throws {
        try await withServer(echoServer(.init(framing: server))) { port in
            try await FramedClient.withConnection(host: "127.0.0.1", port: port, configuration: .init(framing: client)) { connection in
                var messages = connection.messages.makeAsyncIterator()
                for count in [0, 1, 1000, 300_000, 2_000_000] {
                    let body = pattern(count)
                    try await connection.send(body, header: ["name": "é", "count": .integer(Int64(count))])
                    let message = try #require(try await messages.next())
                    #expect(message.header == ["name": "é", "count": .integer(Int64(count))])
                    #expect(message.bodyLength == count)
                    #expect(try await message.body.collect(upTo: 2_000_000) == body)
                }
                #expect(await connection.close() == FramedClosure(initiator: .ourselves, error: nil))
                #expect(try await messages.next() == nil)
            }
        }
    }

    @Test(.timeLimit(.minutes(5))) func unixSocketsAndIPv6() async throws {
        let path = "/tmp/apus-framed-\(ProcessInfo.processInfo.processIdentifier).sock"
        defer { try? FileManager.default.removeItem(atPath: path) }
        let server = echoServer()
        let (paths, isListening) = AsyncStream.makeStream(of: Void.self)
        let running = Task { try await server.run(unixDomainSocketPath: path) { _ in isListening.yield() } }
        var iterator = paths.makeAsyncIterator()
        _ = await iterator.next()
        let connection = try await FramedClient.connect(unixDomainSocketPath: path)
        try await connection.send(pattern(10))
        var messages = connection.messages.makeAsyncIterator()
        #expect(try await messages.next()?.body.collect() == pattern(10))
        await connection.close()
        running.cancel()
        try await running.value

        try await withServer(echoServer(), host: "::1") { port in
            let connection = try await FramedClient.connect(host: "::1", port: port)
            try await connection.send(header: ["a": 1])
            var messages = connection.messages.makeAsyncIterator()
            #expect(try await messages.next()?.header == ["a": 1])
            await connection.close()
        }
    }

    @Test(.timeLimit(.minutes(5))) func progressIsReported() async throws {
        try await withServer(FramedServer { for try await _ in $0.messages {} }) { port in
            let connection = try await FramedClient.connect(host: "127.0.0.1", port: port)
            let seen = NIOLockedValueBox<[FramedProgress]>([])
            try await connection.send(pattern(600_000)) { progress in seen.withLockedValue { $0.append(progress) } }
            #expect(seen.withLockedValue { $0 }.map(\.sentBytes) == [262_144, 524_288, 600_000])
            #expect(seen.withLockedValue { $0.last?.fraction } == 1)
            await connection.close()
        }
    }

    /// A slow reader stops the reading of the socket: the memory is bounded and nothing is lost.
    @Test(.timeLimit(.minutes(5))) func aSlowReaderSlowsTheSender() async throws {
        let received = NIOLockedValueBox(0)
        let server = FramedServer { connection in
            for try await message in connection.messages {
                while !connection.inbox.isPaused {
                    try Task.checkCancellation()
                    await Task.yield()
                }
                for try await piece in message.body { received.withLockedValue { $0 += piece.readableBytes } }
                try await connection.send()
            }
        }
        try await withServer(server) { port in
            let connection = try await FramedClient.connect(host: "127.0.0.1", port: port)
            let total = 100 << 20
            let body = AsyncStream<ByteBuffer> { continuation in
                let piece = ByteBuffer(repeating: 7, count: 256 << 10)
                for _ in 0..<total / piece.readableBytes { continuation.yield(piece) }
                continuation.finish()
            }
            try await connection.send(body, bodyLength: total)
            var messages = connection.messages.makeAsyncIterator()
            #expect(try await messages.next() != nil)
            #expect(received.withLockedValue { $0 } == total)
            await connection.close()
        }
    }

    @Test(.timeLimit(.minutes(5))) func sendersTakeTurns() async throws {
        try await withServer(echoServer()) { port in
            let connection = try await FramedClient.connect(host: "127.0.0.1", port: port)
            try await withThrowingTaskGroup(of: Void.self) { group in
                for number in 0..<8 {
                    group.addTask { try await connection.send(pattern(400_000 + number), header: ["number": .integer(Int64(number))]) }
                }
                var seen: Set<Int> = []
                var messages = connection.messages.makeAsyncIterator()
                while seen.count < 8, let message = try await messages.next() {
                    let number = try #require(message.header["number"]?.intValue)
                    #expect(try await message.body.collect() == pattern(400_000 + number))
                    seen.insert(number)
                }
                #expect(seen.count == 8)
                try await group.waitForAll()
            }
            await connection.close()
        }
    }

    // MARK: Errors

    @Test(.timeLimit(.minutes(5))) func anInvalidMessageLeavesTheConnectionOpen() async throws {
        try await withServer(echoServer(.init(framing: .fixedHeader(length: 64)))) { port in
            let connection = try await FramedClient.connect(
                host: "127.0.0.1", port: port, configuration: .init(framing: .fixedHeader(length: 64)))
            let large: JSONObject = ["a": .string(String(repeating: "x", count: 64))]
            #expect(await code { try await connection.send(pattern(3), header: large) } == .headerTooLarge)
            #expect(await code { try await connection.send(pattern(3), header: ["a": .binary([1])]) } == .invalidUse)
            try await connection.send(pattern(3))
            var messages = connection.messages.makeAsyncIterator()
            #expect(try await messages.next()?.body.collect() == pattern(3))
            await connection.close()
            #expect(await code { try await connection.send() } == .closed)
        }
    }

    @Test(.timeLimit(.minutes(5))) func anUnacceptableMessageIsNotSent() async throws {
        var configuration = FramedServerConfiguration()
        configuration.connection.limits = FramedLimits(maximumBodyBytes: 1000)
        try await withServer(echoServer(configuration)) { port in
            let connection = try await FramedClient.connect(host: "127.0.0.1", port: port)
            #expect(await code { try await connection.send(pattern(1001)) } == .frameTooLarge)
            try await connection.send(pattern(1000))
            var messages = connection.messages.makeAsyncIterator()
            #expect(try await messages.next()?.bodyLength == 1000)
            await connection.close()
        }
    }

    @Test(.timeLimit(.minutes(5)), arguments: [[1], [1, 2]])
    func aBodyOfAnotherLengthEndsTheConnection(pieces: [Int]) async throws {
        try await withServer(echoServer()) { port in
            let connection = try await FramedClient.connect(host: "127.0.0.1", port: port)
            let body = AsyncStream<ByteBuffer> { continuation in
                for count in pieces { continuation.yield(pattern(count)) }
                continuation.finish()
            }
            #expect(await code { try await connection.send(body, bodyLength: 2) } == .invalidUse)
            #expect(await connection.waitUntilClosed().initiator == .failure)
        }
    }

    @Test(.timeLimit(.minutes(5))) func aMessageHasADeadline() async throws {
        let server = FramedServer { connection in _ = await connection.waitUntilClosed() }
        try await withServer(server) { port in
            let connection = try await FramedClient.connect(host: "127.0.0.1", port: port)
            let error = await code { try await connection.send(pattern(64 << 20), timeout: .milliseconds(500)) }
            #expect(error == .timeout)
            #expect(await connection.waitUntilClosed().error?.code == .timeout)
        }
    }

    @Test(.timeLimit(.minutes(5))) func aCancelledMessageEndsTheConnectionOnlyWhenItHasBegun() async throws {
        let server = FramedServer { connection in _ = await connection.waitUntilClosed() }
        try await withServer(server) { port in
            let connection = try await FramedClient.connect(host: "127.0.0.1", port: port)
            let began = AsyncStream.makeStream(of: Void.self)
            let never = AsyncStream<ByteBuffer> { $0.yield(pattern(1)) }
            let first = Task { try await connection.send(never, bodyLength: 2) { _ in began.continuation.yield() } }
            for await _ in began.stream { break }
            let second = Task { try await connection.send(pattern(1)) }
            second.cancel()
            await #expect(throws: CancellationError.self) { try await second.value }
            #expect(connection.closure == nil)
            first.cancel()
            await #expect(throws: (any Error).self) { try await first.value }
            #expect(await connection.waitUntilClosed().initiator == .failure)
        }
    }

    @Test(.timeLimit(.minutes(5))) func bothSidesReceiveTheError() async throws {
        let closeCodes = AsyncStream.makeStream(of: FramedError.Code?.self)
        let server = FramedServer { connection in
            closeCodes.continuation.yield(await connection.waitUntilClosed().error?.code)
        }
        try await withServer(server) { port in
            let connection = try await FramedClient.connect(host: "127.0.0.1", port: port)
            // A body that ends too early is a local error; the server reports it as an error of its
            // peer.
            _ = await code { try await connection.send(AsyncStream { $0.finish() }, bodyLength: 2) }
            try await connection.send(pattern(1))
            let body = AsyncStream<ByteBuffer> { continuation in
                continuation.yield(pattern(1))
                continuation.finish()
            }
            _ = await code { try await connection.send(body, bodyLength: 2) }
            for await code in closeCodes.stream {
                #expect(code == .peerFailed)
                break
            }
        }
    }
}

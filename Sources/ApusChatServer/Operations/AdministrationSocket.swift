import ApusChatProtocol
package import ApusJSON
import Logging
import NIOCore
import NIOPosix

/// The Unix socket `chat.admin` in the data folder, by which a program of the folder's owner
/// commands a running server.
///
/// A connection has one request, a JSON array of words in a line, and one answer, an object with
/// `text` or `error` in a line.
package enum AdministrationSocket {
    package static let name = "chat.admin"
    private static let lineBytes = 64 << 10

    /// Answers requests until the task is cancelled.
    static func serve(_ administration: Administration, in folder: String, logger: Logger) async {
        do {
            let listener = try await ServerBootstrap(group: .singletonMultiThreadedEventLoopGroup).bind(
                unixDomainSocketPath: folder + "/" + self.name, cleanupExistingSocketFile: true
            ) { channel in
                channel.eventLoop.makeCompletedFuture { try NIOAsyncChannel<ByteBuffer, ByteBuffer>(wrappingChannelSynchronously: channel) }
            }
            try await listener.executeThenClose { connections in
                // One at a time: operators are few, and some commands are long.
                for try await connection in connections { await self.answer(connection, administration) }
            }
        } catch is CancellationError {
        } catch {
            logger.warning("The server cannot be administrated while it runs", metadata: ["error": "\(error)"])
        }
    }

    private static func answer(_ connection: NIOAsyncChannel<ByteBuffer, ByteBuffer>, _ administration: Administration) async {
        try? await connection.executeThenClose { inbound, outbound in
            let answer: JSONValue
            do {
                let request = try JSONReader.read(Array(try await self.line(inbound).readableBytesView))
                answer = .object(["text": .string(try await administration.perform(request.arrayValue?.compactMap(\.stringValue) ?? []))])
            } catch {
                answer = .object(["error": .string(Administration.message(of: error))])
            }
            try await outbound.write(ByteBuffer(bytes: JSONWriter.bytes(of: answer) + [0x0A]))
        }
    }

    private static func line(_ inbound: NIOAsyncChannelInboundStream<ByteBuffer>) async throws -> ByteBuffer {
        var line = ByteBuffer()
        for try await part in inbound {
            line.writeImmutableBuffer(part)
            if let end = line.readableBytesView.firstIndex(of: 0x0A) { return line.getSlice(at: 0, length: end) ?? line }
            guard line.readableBytes <= self.lineBytes else { break }
        }
        throw ChatError(.badRequest, message: "A request is one line of at most \(self.lineBytes) bytes.")
    }

    /// Sends a command to the server of a folder.
    ///
    /// - Returns: The answer, or nil if no server listens.
    package static func request(_ words: [String], in folder: String) async throws -> JSONValue? {
        let channel: NIOAsyncChannel<ByteBuffer, ByteBuffer>
        do {
            channel = try await ClientBootstrap(group: .singletonMultiThreadedEventLoopGroup).connect(
                unixDomainSocketPath: folder + "/" + self.name
            ) { channel in
                channel.eventLoop.makeCompletedFuture { try NIOAsyncChannel<ByteBuffer, ByteBuffer>(wrappingChannelSynchronously: channel) }
            }
        } catch {
            return nil
        }
        return try await channel.executeThenClose { inbound, outbound in
            try await outbound.write(ByteBuffer(bytes: JSONWriter.bytes(of: .array(words.map { .string($0) })) + [0x0A]))
            var all = ByteBuffer()
            for try await part in inbound { all.writeImmutableBuffer(part) }
            return try JSONReader.read(Array(all.readableBytesView))
        }
    }
}

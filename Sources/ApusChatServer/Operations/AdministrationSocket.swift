import ApusChatProtocol
package import ApusJSON
import Logging
import NIOCore
import NIOPosix

/// The Unix socket `chat.admin` in the data folder, through which programs of the owner of the
/// folder send commands to a running server.
///
/// A connection transfers one request and one answer. The request is a line with a JSON array of
/// words. The answer is a line with a JSON object that has the field `text` or `error`.
package enum AdministrationSocket {
    package static let name = "chat.admin"

    /// The maximum number of requests that wait while another request is performed.
    private static let maximumWaiting = 16

    /// Answers requests until the task is cancelled.
    static func serve(_ administration: Administration, in folder: String, logger: Logger) async {
        let (requests, received) = AsyncStream.makeStream(
            of: AdministrationRequest.self, bufferingPolicy: .bufferingOldest(self.maximumWaiting))
        do {
            let listener = try await ServerBootstrap(group: .singletonMultiThreadedEventLoopGroup).childChannelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    try channel.pipeline.syncOperations.addHandler(AdministrationHandler { received.yield($0) })
                }
            }.bind(unixDomainSocketPath: folder + "/" + self.name, cleanupExistingSocketFile: true).get()
            // Performs one request at a time, because there are few operators and some commands
            // take long.
            for await request in requests { await self.answer(request, administration) }
            try await listener.close()
        } catch {
            logger.warning("The server accepts no commands of apus admin while it runs", metadata: ["error": "\(error)"])
        }
    }

    private static func answer(_ request: AdministrationRequest, _ administration: Administration) async {
        let answer: JSONValue
        do {
            guard let line = request.line else {
                throw ChatError(
                    .badRequest, message: "The request must be one line of at most \(AdministrationHandler.lineBytes) bytes.")
            }
            let words = try JSONReader.read(Array(line.readableBytesView)).arrayValue?.compactMap(\.stringValue)
            answer = .object(["text": .string(try await administration.perform(words ?? []))])
        } catch {
            answer = .object(["error": .string(Administration.message(of: error))])
        }
        try? await request.channel.writeAndFlush(ByteBuffer(bytes: JSONWriter.bytes(of: answer) + [0x0A]))
    }

    /// Sends a command to the server of a folder.
    ///
    /// - Returns: The answer; nil if no server listens.
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

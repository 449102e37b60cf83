import ApusCommandSupport
import ApusConnectivity
import ApusFramedProtocol
import ApusFramedSocket
import ApusJSON
import ArgumentParser
import Foundation
import NIOCore

/// The two programs that `Benchmarks/transfer` measures: one receives files or messages, the other
/// sends them.
struct TransferBench: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "transfer", abstract: "Run one side of Benchmarks/transfer.",
        subcommands: [Serve.self, Send.self])

    /// Receives files into a folder. Discards the bodies of messages and answers each with its
    /// length.
    struct Serve: AsyncParsableCommand {
        @Option(help: "The port on 127.0.0.1; 0 selects a free port.") var port = 0
        @Option(help: "The folder for files.") var into: String
        @Option(help: "A PEM file with the certificate, for TLS.") var certificate: String?
        @Option(help: "A PEM file with the certificate's private key.") var key: String?

        func run() async throws {
            var configuration = FramedServerConfiguration()
            configuration.connection.limits.maximumBodyBytes = 1 << 40
            configuration.connection.receiving = FileReceiving(into: try ReceivingFolder(path: self.into))
            var tls: TLSServerSettings?
            if let certificate, let key {
                tls = TLSServerSettings(identity: try TLSIdentity(certificateChainFile: certificate, privateKeyFile: key))
            }
            let server = FramedServer(configuration: configuration) { connection in
                for try await message in connection.messages {
                    var count = 0
                    for try await piece in message.body { count += piece.readableBytes }
                    try await connection.send(header: ["bytes": JSONValue(count)])
                }
            }
            try await server.run(host: "127.0.0.1", port: self.port, tls: tls) { address in
                writeStandardOutput(Data("listening on \(address.port ?? 0)\n".utf8))
            }
        }
    }

    /// Sends a file, or every file of a folder, and prints the duration.
    struct Send: AsyncParsableCommand {
        @Argument(help: "The port on 127.0.0.1.") var port: Int
        @Argument(help: "A file, or a folder of files.") var path: String
        @Flag(help: "Send the file as the body of a message instead of in a transfer.") var message = false
        @Flag(help: "Use TLS without verifying the certificate.") var tls = false
        @Option(help: "The number of files to send at the same time.") var atATime = 16

        func run() async throws {
            let configuration = FramedClientConfiguration(tls: self.tls ? .insecureSkipVerification : nil)
            let connection = try await FramedClient.connect(host: "127.0.0.1", port: self.port, configuration: configuration)
            let start = ContinuousClock.now
            if self.message { try await self.sendMessage(connection) } else { try await self.sendFiles(connection) }
            let seconds = (ContinuousClock.now - start) / .seconds(1)
            await connection.close()
            writeStandardOutput(Data("{\"seconds\": \(seconds)}\n".utf8))
        }

        private func sendMessage(_ connection: FramedConnection) async throws {
            let body = try FramedFileBody(path: self.path)
            try await connection.send(body, bodyLength: body.length)
            for try await answer in connection.messages {
                guard answer.header["bytes"]?.intValue == body.length else {
                    throw ValidationError("the receiver did not receive all bytes")
                }
                return
            }
            throw ValidationError("the receiver did not answer")
        }

        private func sendFiles(_ connection: FramedConnection) async throws {
            var isFolder: ObjCBool = false
            _ = FileManager.default.fileExists(atPath: self.path, isDirectory: &isFolder)
            guard isFolder.boolValue else { return try await connection.send(file: self.path) }
            var sending = FileSending()
            sending.maximumConcurrentFiles = self.atATime
            let sent = try await connection.send(folder: self.path, sending)
            guard sent.failed == 0 else { throw ValidationError("\(sent.failed) files were not sent") }
        }
    }
}

import ApusBytes
import ApusCommandSupport
import ApusFramedSocket
import ArgumentParser
import Foundation

/// `apus send`: sends files and folders to `apus receive`.
struct SendCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "send",
        abstract: "Send files and folders to apus receive.",
        discussion: """
            apus send film.mp4 10.0.0.5:2787 --code 7ZK3W-…  with the code that apus receive has printed
            apus send album/ a.txt 10.0.0.5:2787             shows the receiver's fingerprint and asks for confirmation

            To resume an interrupted transfer, run the same command again: partial files are resumed, and files that the receiver \
            already has are not sent again. After a lost connection, the command tries to reconnect for the time of --wait. Symbolic \
            links in a folder are not followed.

            Exit codes: 0 all files are on the receiver's disk; 64 invalid arguments; 66 a file cannot be read; 69 no connection, or \
            the connection was lost; 74 the receiver's disk is full or failed; 75 stopped by the receiver, or another connection \
            sends the same file: try again later; 76 the receiver violated the protocol; 77 not the expected receiver, or it \
            refused; 130 interrupted by Ctrl-C (the receiver is notified; a second Ctrl-C does not wait for it).
            """
    )

    @Argument(help: ArgumentHelp("The files and folders to send, followed by the receiver's HOST:PORT.", valueName: "file … address"))
    var arguments: [String]

    @Option(
        help: ArgumentHelp(
            "The code that the receiver printed. With -, it is read from standard input, which hides it from the process list.",
            valueName: "code"))
    var code: String?

    @OptionGroup var tlsOptions: TLSOptions

    @Flag(help: "Do not use TLS: the network can read and change the files.")
    var plain = false

    @Flag(help: "Preserve the permissions and modification times of files.")
    var preserve = false

    @Option(help: ArgumentHelp("The maximum rate in bytes per second, for example 500K or 2MiB.", valueName: "bytes"))
    var rateLimit: ByteCount?

    @Option(help: "The number of files to send at the same time, from 1 to 16.")
    var atATime = 4

    @Option(help: ArgumentHelp("The maximum time for reconnecting after a lost connection. 0 disables reconnection.", valueName: "seconds"))
    var wait = 30

    @Flag(name: .shortAndLong, help: "Write only errors.")
    var quiet = false

    @Flag(help: "Write every event as a JSON object on its own line.")
    var json = false

    func validate() throws {
        guard self.arguments.count >= 2, self.address != nil else {
            throw ValidationError("the files or the address is missing; use: apus send FILE… HOST:PORT")
        }
        let names = self.paths.map { URL(fileURLWithPath: $0).standardizedFileURL.lastPathComponent }
        if let name = names.first(where: { name in names.count(where: { $0 == name }) > 1 }) {
            throw ValidationError("two of the files would have the name \(PeerText.visible(name)) at the receiver; send them separately")
        }
        guard !(self.quiet && self.json) else { throw ValidationError("--quiet and --json must not be used together") }
        guard [self.code != nil, self.tlsOptions.isGiven, self.plain].count(where: { $0 }) <= 1 else {
            throw ValidationError("use only one of --code, --pin, --ca, --insecure and --plain")
        }
        if case .unix = self.address, self.tlsOptions.isGiven {
            throw ValidationError("TLS is not supported on a Unix socket; omit --pin, --ca and --insecure")
        }
        if let code, code != "-", TransferCode(code) == nil { throw ValidationError(Self.noCode) }
        guard self.rateLimit.map({ $0.bytes >= 1024 }) ?? true else {
            throw ValidationError("--rate-limit must be at least 1024 bytes per second")
        }
        guard (1...16).contains(self.atATime) else { throw ValidationError("--at-a-time must be from 1 to 16, not \(self.atATime)") }
        guard (0...86_400).contains(self.wait) else { throw ValidationError("--wait must be from 0 to 86400 seconds, not \(self.wait)") }
    }

    private static let noCode = "--code must be the 40 letters and digits that apus receive has printed; check it for typing errors"

    /// The address in the last argument. It must contain a colon, because a port alone is more
    /// likely to be a file name.
    var address: ListenAddress? {
        guard let last = self.arguments.last, last.contains(":") else { return nil }
        return ListenAddress(argument: last)
    }

    var paths: [String] { Array(self.arguments.dropLast()) }

    func run() async throws {
        guard let address = self.address else { return }
        let output = TransferOutput(style: self.json ? .json : self.quiet ? .quiet : .text)
        for path in self.paths where !FileManager.default.fileExists(atPath: path) {
            output.note("apus send: the file \(path) does not exist")
            throw ExitCode(66)
        }
        let count = try await FramedConnection.count(files: self.paths)
        let trust: ReceiverCredentials
        do {
            trust = try await self.trust(at: address, output)
        } catch let error as ExitCode {
            throw error
        } catch {
            output.note("apus send: \(TransferFailure.advice(for: error, address: self.arguments.last ?? ""))")
            throw ExitCode(TransferFailure.exitCode(for: error))
        }
        var options = SendSession.Options(address: address, addressText: self.arguments.last ?? "", trust: trust)
        options.keepsAttributes = self.preserve
        options.bytesPerSecond = self.rateLimit?.bytes
        options.maximumConcurrentFiles = self.atATime
        options.patience = .seconds(self.wait)
        let session = SendSession(paths: self.paths, files: count.files, bytes: count.bytes, options: options, output: output)
        let code = await session.run()
        if code != 0 { throw ExitCode(code) }
    }

    private func trust(at address: ListenAddress, _ output: TransferOutput) async throws -> ReceiverCredentials {
        if case .unix = address { return ReceiverCredentials() }
        if self.plain { return ReceiverCredentials() }
        if self.tlsOptions.isGiven { return ReceiverCredentials(tls: try self.tlsOptions.settings()) }
        let text = self.code == "-" ? readLine() ?? "" : self.code
        guard let text else { return try await ReceiverCredentials.asking(at: address, output) }
        guard let code = TransferCode(text) else { throw ValidationError(Self.noCode) }
        return try await ReceiverCredentials.checking(code, at: address)
    }
}

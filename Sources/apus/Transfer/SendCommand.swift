import ApusFramedSocket
import ArgumentParser
import Foundation

/// `apus send`: send files and folders to `apus receive`.
struct SendCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "send",
        abstract: "Send files and folders to apus receive.",
        discussion: """
            apus send film.mp4 10.0.0.5:2787 --code 7ZK3W-…  the code it printed
            apus send album/ a.txt 10.0.0.5:2787             shows whom, and asks

            Run it again when it was interrupted: files go on where they stopped, and what the receiver has is not sent again. When the \
            connection breaks it tries again by itself for a while. Links below a folder are not followed.

            Exit: 0 everything stands on the receiver's disk; 64 wrong arguments; 66 something cannot be read; 69 no connection, or lost; 74 the \
            receiver's disk; 75 stopped by the receiver, or another sender is at it: run it again; 76 the receiver does not keep to the protocol; 77 \
            not the receiver that was named, or it refuses; 130 stopped by Ctrl-C (the receiver is told; a second Ctrl-C does not wait for it).
            """
    )

    @Argument(help: ArgumentHelp("What to send, and at last the receiver's HOST:PORT.", valueName: "file … address"))
    var arguments: [String]

    @Option(
        help: ArgumentHelp(
            "The code the receiver has printed; - reads it from standard input, where ps does not show it.", valueName: "code"))
    var code: String?

    @Option(help: ArgumentHelp("The SHA-256 fingerprint of the receiver's certificate.", valueName: "sha256"))
    var fingerprint: String?

    @Flag(help: "No TLS: everybody on the way can read and change the files.")
    var plain = false

    @Flag(help: "Keep the permissions and times of files.")
    var preserve = false

    @Option(help: ArgumentHelp("Bytes a second at the most: 500K, 2MiB.", valueName: "bytes"))
    var rateLimit: ByteCount?

    @Option(help: "Files under way at a time, 1 to 16.")
    var atATime = 4

    @Option(help: ArgumentHelp("How long to try again when the connection breaks; 0 does not.", valueName: "seconds"))
    var wait = 30

    @Flag(name: .shortAndLong, help: "Write mistakes and nothing else.")
    var quiet = false

    @Flag(help: "Write every event as a JSON object on a line.")
    var json = false

    func validate() throws {
        guard self.arguments.count >= 2, self.address != nil else {
            throw ValidationError("say what to send and where: apus send FILE… HOST:PORT")
        }
        let names = self.paths.map { URL(fileURLWithPath: $0).standardizedFileURL.lastPathComponent }
        if let name = names.first(where: { name in names.count(where: { $0 == name }) > 1 }) {
            throw ValidationError("two of them would be \(TerminalText.harmless(name)) at the receiver; send them one after the other")
        }
        guard !(self.quiet && self.json) else { throw ValidationError("give --quiet or --json, not both") }
        guard [self.code != nil, self.fingerprint != nil, self.plain].count(where: { $0 }) <= 1 else {
            throw ValidationError("give one of --code, --fingerprint and --plain")
        }
        if let fingerprint, CertificateFingerprint(fingerprint) == nil {
            throw ValidationError("--fingerprint takes 64 hexadecimal digits, as apus receive prints them")
        }
        if let code, code != "-", TransferCode(code) == nil { throw ValidationError(Self.noCode) }
        guard self.rateLimit.map({ $0.bytes >= 1024 }) ?? true else {
            throw ValidationError("--rate-limit is at least 1024 bytes a second")
        }
        guard (1...16).contains(self.atATime) else { throw ValidationError("--at-a-time is from 1 to 16") }
        guard (0...86_400).contains(self.wait) else { throw ValidationError("--wait is from 0 to 86400 seconds") }
    }

    private static let noCode = "that is no code, or one with a typing mistake: 40 letters and digits, as apus receive --code prints them"

    /// The last argument. A port alone would be taken for a file's name that was meant.
    var address: ListenAddress? {
        guard let last = self.arguments.last, last.contains(":") else { return nil }
        return ListenAddress(argument: last)
    }

    var paths: [String] { Array(self.arguments.dropLast()) }

    func run() async throws {
        guard let address = self.address else { return }
        let output = TransferOutput(style: self.json ? .json : self.quiet ? .quiet : .text)
        for path in self.paths where !FileManager.default.fileExists(atPath: path) {
            output.note("apus send: there is no \(path)")
            throw ExitCode(66)
        }
        let count = try await FramedConnection.count(files: self.paths)
        let trust: ReceiverTrust
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
        options.filesAtATime = self.atATime
        options.patience = .seconds(self.wait)
        let session = SendSession(paths: self.paths, files: count.files, bytes: count.bytes, options: options, output: output)
        let code = await session.run()
        if code != 0 { throw ExitCode(code) }
    }

    private func trust(at address: ListenAddress, _ output: TransferOutput) async throws -> ReceiverTrust {
        if case .unix = address { return ReceiverTrust() }
        if self.plain { return ReceiverTrust() }
        if let fingerprint = self.fingerprint.flatMap({ CertificateFingerprint($0) }) { return ReceiverTrust(fingerprint: fingerprint) }
        let text = self.code == "-" ? readLine() ?? "" : self.code
        guard let text else { return try await ReceiverTrust.asking(at: address, output) }
        guard let code = TransferCode(text) else { throw ValidationError(Self.noCode) }
        return try await ReceiverTrust.checking(code, at: address)
    }
}

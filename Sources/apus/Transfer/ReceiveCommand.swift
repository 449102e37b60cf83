import ApusCommandSupport
import ApusFramedProtocol
import ApusFramedSocket
import ArgumentParser
import Foundation
import Logging
import NIOCore

/// `apus receive`: receives files from `apus send`.
struct ReceiveCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "receive",
        abstract: "Receive files and folders from apus send.",
        discussion: """
            apus receive --into inbox           prints the apus send command to use
            apus receive --listen 0.0.0.0:2787  accepts senders on other machines that have the code

            A file is verified by its SHA-256, and receives its name when it is complete and synced to the disk. An interrupted file \
            remains in the folder as .apus-….part. It is resumed when it is sent again, and deleted after seven days. Existing files \
            are never changed: a second file of the same name receives a number, unless its contents are identical. Names that begin with \
            a dot, such as .bashrc and .ssh/authorized_keys, are refused.

            Connections use TLS with a certificate that is generated at the first start and kept in ~/.local/share/apus/receive. The \
            code contains the certificate's fingerprint and a secret. It authenticates the receiver to the sender and the sender to \
            the receiver, so share it with the sender only. It is required at every address that other machines can reach, that is \
            all except 127.0.0.1 and ::1, unless --plain is used.

            Exit codes: 0 success, or stopped while idle; 1 some files failed (--once); 64 invalid arguments; 69 cannot listen; 73 \
            the folder cannot be created or used; 130 interrupted by Ctrl-C during a transfer (a second Ctrl-C does not wait for the \
            senders).
            """
    )

    @Option(
        help: ArgumentHelp(
            "The address to listen on: HOST:PORT, PORT (at 127.0.0.1; 0 selects a free port) or unix:PATH.",
            valueName: "address"))
    var listen = ListenAddress.tcp(host: "127.0.0.1", port: TransferAddress.standardPort)

    @Option(help: ArgumentHelp("The folder for the files; it is created if it does not exist.", valueName: "folder"))
    var into = "."

    @Flag(help: "Exit when one sender has sent all of its files.")
    var once = false

    @Option(help: ArgumentHelp("The maximum total size of one sender's files, for example 500M or 2GiB.", valueName: "bytes"))
    var maxBytes: ByteCount?

    @Flag(
        help:
            "Print a code and accept only senders that have it. Always on if other machines can connect (see --listen)."
    )
    var code = false

    @Flag(help: "Use neither TLS nor a code: any client that can connect may send, and the network can read and change the files.")
    var plain = false

    @Flag(help: "Accept files if their name, or the name of a folder in their path, begins with a dot.")
    var allowHidden = false

    @Flag(help: "Generate a new certificate and code; the old ones become invalid.")
    var renew = false

    @Option(help: ArgumentHelp("The folder for the certificate and its key. Default: ~/.local/share/apus/receive.", valueName: "folder"))
    var identity: String?

    @Flag(name: .shortAndLong, help: "Write only the listening address and errors.")
    var quiet = false

    @Flag(help: "Write every event as a JSON object on its own line.")
    var json = false

    func validate() throws {
        guard !(self.plain && self.code) else {
            throw ValidationError("--code requires TLS, because the network could read it; omit --plain or --code")
        }
        guard !(self.plain && (self.renew || self.identity != nil)) else {
            throw ValidationError("--plain uses no certificate; omit --renew and --identity")
        }
        guard !(self.quiet && self.json) else { throw ValidationError("--quiet and --json must not be used together") }
        guard self.maxBytes.map({ $0.bytes > 0 }) ?? true else { throw ValidationError("--max-bytes must be greater than 0") }
        if case .unix = self.listen, !self.plain { throw ValidationError("TLS is not supported on a Unix socket; add --plain") }
    }

    func run() async throws {
        let output = TransferOutput(style: self.json ? .json : self.quiet ? .quiet : .text)
        let folder: ReceivingFolder
        do {
            try FileManager.default.createDirectory(atPath: self.into, withIntermediateDirectories: true)
            var limits = TransferLimits()
            if let most = self.maxBytes?.bytes {
                limits.fileBytes = most
                limits.sessionBytes = most
            }
            folder = try ReceivingFolder(path: self.into, limits: limits)
        } catch {
            output.note("apus receive: cannot use the folder \(self.into): \((error as? TransferError)?.message ?? "it cannot be created")")
            throw ExitCode(73)
        }
        let identity: ReceiverIdentity?
        do {
            identity =
                try self.plain
                ? nil
                : ReceiverIdentity(folder: self.identity ?? ReceiverIdentity.standardFolder, renews: self.renew, now: Date())
        } catch {
            output.note(
                "apus receive: cannot create or read the certificate: \(ErrorText.line(error)); select another folder with --identity")
            throw ExitCode(73)
        }
        folder.removeAbandoned()
        let (address, isLoopback) = self.listen.resolved()
        let session = ReceiveSession(
            folder: folder, code: self.code || !isLoopback ? identity?.code : nil, isOnce: self.once, allowsHidden: self.allowHidden,
            output: output)
        let code = await session.run(at: address, identity: identity)
        if code != 0 { throw ExitCode(code) }
    }
}

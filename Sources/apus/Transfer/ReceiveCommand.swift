import ApusFramedSocket
import ArgumentParser
import Foundation
import Logging
import NIOCore

/// `apus receive`: take files from `apus send`.
struct ReceiveCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "receive",
        abstract: "Take files and folders that apus send sends.",
        discussion: """
            apus receive --into inbox           prints the line to send with
            apus receive --listen 0.0.0.0:2787  from other machines, for who has the code only

            Files are checked by their SHA-256 and appear under their names when they are whole and on the disk. What was interrupted lies in the \
            folder as .apus-….part, is gone on with when it is sent again, and is thrown away after seven days. What is in the folder already is \
            never changed: the second file of a name gets a number, unless it is the same file. Names that begin with a dot, such as .bashrc \
            and .ssh/authorized_keys, are refused.

            The connection is TLS, under a certificate made at the first start and kept in ~/.local/share/apus/receive. The code is made of its \
            fingerprint and of a secret, so that the sender knows whom it sends to and the receiver who sends; keep it to yourselves. It is \
            wanted wherever other machines can connect: at every address but 127.0.0.1 and ::1, unless --plain is given.

            Exit: 0 done, or stopped while nothing came; 1 some files failed (--once); 64 wrong arguments; 69 cannot listen; 73 the folder cannot be made or \
            used; 130 stopped by Ctrl-C in the middle (a second Ctrl-C does not wait for the senders).
            """
    )

    @Option(
        help: ArgumentHelp(
            "HOST:PORT, PORT (of 127.0.0.1; 0 takes a free one) or unix:PATH; 0.0.0.0:2787 is every IPv4 address of this machine.",
            valueName: "address"))
    var listen = ListenAddress.tcp(host: "127.0.0.1", port: TransferAddress.standardPort)

    @Option(help: ArgumentHelp("The folder for the files; it is made when it is not there.", valueName: "folder"))
    var into = "."

    @Flag(help: "End when one sender has sent everything.")
    var once = false

    @Option(help: ArgumentHelp("The most bytes of one sender's connection, and so of a file: 500M, 2GiB.", valueName: "bytes"))
    var maxBytes: ByteCount?

    @Flag(
        help:
            "Take files only from senders that have the code, which is printed. Always so where other machines can connect (see --listen)."
    )
    var code = false

    @Flag(help: "No TLS and no code: everybody who can connect may send, and everybody on the way can read and change the files.")
    var plain = false

    @Flag(help: "Take names that begin with a dot, or are in a folder whose name does.")
    var allowHidden = false

    @Flag(help: "Make a new certificate and a new code; the old ones are worth nothing then.")
    var renew = false

    @Option(help: ArgumentHelp("Where the certificate and its key are kept.", valueName: "folder"))
    var identity: String?

    @Flag(name: .shortAndLong, help: "Write where it listens, and mistakes; nothing else.")
    var quiet = false

    @Flag(help: "Write every event as a JSON object on a line.")
    var json = false

    func validate() throws {
        guard !(self.plain && self.code) else {
            throw ValidationError("a code would go over the line for all to read; leave --plain or --code out")
        }
        guard !(self.plain && (self.renew || self.identity != nil)) else { throw ValidationError("--plain has no certificate") }
        guard !(self.quiet && self.json) else { throw ValidationError("give --quiet or --json, not both") }
        guard self.maxBytes.map({ $0.bytes > 0 }) ?? true else { throw ValidationError("--max-bytes is above 0") }
        if case .unix = self.listen, !self.plain { throw ValidationError("a Unix socket needs no TLS here; say --plain") }
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
            output.note("apus receive: \(self.into) cannot be used: \((error as? TransferError)?.message ?? "it cannot be made")")
            throw ExitCode(73)
        }
        let identity: ReceiverIdentity?
        do {
            identity =
                try self.plain
                ? nil
                : ReceiverIdentity(folder: self.identity ?? ReceiverIdentity.standardFolder, renews: self.renew, now: Date())
        } catch {
            output.note("apus receive: the certificate cannot be made or read: \(error); --identity names another folder for it")
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

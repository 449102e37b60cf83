import Foundation

/// A parsed input line of `apus ws`: a text to send, or a command that begins with a slash.
enum WebSocketLine: Equatable {
    case text(String)
    case binary([UInt8])
    case file(path: String, isText: Bool)
    case ping
    case close(code: UInt16, reason: String)
    case wait(Duration)
    case state
    case help
    case quit
    case nothing
    case mistake(String)

    /// Parses a line.
    ///
    /// - Parameters:
    ///   - line: The line without its line break.
    ///   - hasCommands: Whether a slash begins a command. If `false`, every line is a text.
    init(_ line: String, hasCommands: Bool) {
        guard hasCommands, line.hasPrefix("/") else {
            // With commands, an empty line is ignored; otherwise it is sent.
            self = hasCommands && line.isEmpty ? .nothing : .text(line)
            return
        }
        guard !line.hasPrefix("//") else {
            self = .text(String(line.dropFirst()))
            return
        }
        let command = line.dropFirst().prefix { !$0.isWhitespace }
        let rest = line.dropFirst(command.count + 1).drop(while: \.isWhitespace)
        switch command {
        case "ping": self = .ping
        case "file", "text-file":
            self =
                rest.isEmpty
                ? .mistake("/\(command) PATH: the path is missing") : .file(path: String(rest), isText: command == "text-file")
        case "hex": self = Self.hex(rest)
        case "close": self = Self.close(rest)
        case "wait": self = Self.wait(rest)
        case "state": self = .state
        case "help", "?": self = .help
        case "quit", "exit": self = .quit
        default: self = .mistake("unknown command /\(command); /help lists the commands, //\(command) sends the line")
        }
    }

    static let helpText = """
        any line               send the line as a text; //line sends a line that begins with a slash
        /file PATH             send the bytes of a file as one binary message
        /text-file PATH        send a file as one text message
        /hex 00 ff …           send these bytes as a binary message
        /ping                  send a ping and show the round-trip time
        /wait SECONDS          wait and show received messages
        /close [CODE] [REASON] close with a code and a reason, and quit
        /state                 show the state of the connection
        /quit                  close and quit (also at the end of the input)
        """

    // MARK: Arguments

    private static func hex(_ text: Substring) -> Self {
        let digits = text.filter { !$0.isWhitespace }
        var bytes: [UInt8] = []
        var rest = digits[...]
        while !rest.isEmpty {
            guard rest.count >= 2, let byte = UInt8(rest.prefix(2), radix: 16), !rest.hasPrefix("+") else {
                return .mistake("/hex requires pairs of hexadecimal digits; for example: /hex 00 ff 10")
            }
            bytes.append(byte)
            rest = rest.dropFirst(2)
        }
        return .binary(bytes)
    }

    private static func close(_ text: Substring) -> Self {
        guard !text.isEmpty else { return .close(code: 1000, reason: "") }
        let parts = text.split(separator: " ", maxSplits: 1)
        // The codes that an endpoint may send (RFC 6455 section 7.4).
        guard let code = parts.first.flatMap({ UInt16($0) }), (1000...4999).contains(code), ![1004, 1005, 1006, 1015].contains(code) else {
            return .mistake("/close CODE REASON: the code must be from 1000 to 4999, but not 1004 to 1006 or 1015; for example 4000")
        }
        let reason = parts.count > 1 ? String(parts[1]) : ""
        guard reason.utf8.count <= 123 else { return .mistake("/close CODE REASON: the reason must not exceed 123 bytes") }
        return .close(code: code, reason: reason)
    }

    private static func wait(_ text: Substring) -> Self {
        guard let seconds = Double(text), seconds >= 0, seconds <= 86_400 else {
            return .mistake("/wait SECONDS: a number from 0 to 86400; for example: /wait 1.5")
        }
        return .wait(.milliseconds(Int64(seconds * 1000)))
    }
}

import Foundation

/// What a line typed at `apus ws` means: a text to send, or a command behind a slash.
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

    /// - Parameters:
    ///   - line: Without its end.
    ///   - hasCommands: Whether a slash begins a command; in a pipe every line is a text unless asked for otherwise.
    init(_ line: String, hasCommands: Bool) {
        guard hasCommands, line.hasPrefix("/") else {
            // At a prompt an empty line is a slip of the finger; in a pipe it is a line.
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
            self = rest.isEmpty ? .mistake("/\(command) PATH: which file?") : .file(path: String(rest), isText: command == "text-file")
        case "hex": self = Self.hex(rest)
        case "close": self = Self.close(rest)
        case "wait": self = Self.wait(rest)
        case "state": self = .state
        case "help", "?": self = .help
        case "quit", "exit": self = .quit
        default: self = .mistake("there is no /\(command); /help shows what there is, //\(command) sends the line")
        }
    }

    static let helpText = """
        any line             send it as a text; //line sends a line that begins with a slash
        /file PATH           send the bytes of a file as one binary message
        /text-file PATH      send a file as one text message
        /hex 00 ff …         send these bytes as a binary message
        /ping                ping, and show the time the answer took
        /wait SECONDS        show what arrives for so long
        /close [CODE] [WHY]  close with a code and a reason, and leave
        /state               where the connection stands
        /quit                close and leave (as does the end of the input)
        """

    // MARK: Arguments

    private static func hex(_ text: Substring) -> Self {
        let digits = text.filter { !$0.isWhitespace }
        var bytes: [UInt8] = []
        var rest = digits[...]
        while !rest.isEmpty {
            guard rest.count >= 2, let byte = UInt8(rest.prefix(2), radix: 16), !rest.hasPrefix("+") else {
                return .mistake("/hex takes pairs of hexadecimal digits; for example: /hex 00 ff 10")
            }
            bytes.append(byte)
            rest = rest.dropFirst(2)
        }
        return .binary(bytes)
    }

    private static func close(_ text: Substring) -> Self {
        guard !text.isEmpty else { return .close(code: 1000, reason: "") }
        let parts = text.split(separator: " ", maxSplits: 1)
        // RFC 6455 7.4: what an endpoint may send.
        guard let code = parts.first.flatMap({ UInt16($0) }), (1000...4999).contains(code), ![1004, 1005, 1006, 1015].contains(code) else {
            return .mistake("/close CODE WHY: a code from 1000 to 4999 that may be sent; for example: /close 4000 enough")
        }
        let reason = parts.count > 1 ? String(parts[1]) : ""
        guard reason.utf8.count <= 123 else { return .mistake("/close CODE WHY: at most 123 bytes of reason") }
        return .close(code: code, reason: reason)
    }

    private static func wait(_ text: Substring) -> Self {
        guard let seconds = Double(text), seconds >= 0, seconds <= 86_400 else {
            return .mistake("/wait SECONDS: a number of seconds, at most a day; for example: /wait 1.5")
        }
        return .wait(.milliseconds(Int64(seconds * 1000)))
    }
}

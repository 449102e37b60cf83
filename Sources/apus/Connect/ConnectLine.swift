import ApusJSON
import Foundation

/// A parsed input line of `apus connect`.
enum ConnectLine: Equatable {
    case emit(event: String, arguments: [JSONValue])
    case ack(event: String, arguments: [JSONValue])
    case reply(event: String, arguments: [JSONValue])
    case listen(events: [String])
    case wait(Duration)
    case state
    case help
    case quit
    case nothing
    case mistake(String)

    init(_ line: String) {
        let words: [Substring]
        do throws(ConnectLineError) { words = try Self.words(line) } catch {
            self = .mistake(error.message)
            return
        }
        guard let command = words.first, !command.hasPrefix("#") else {
            self = .nothing
            return
        }
        let rest = words.dropFirst()
        do throws(ConnectLineError) {
            switch command {
            case "emit": self = try Self.event(rest, "emit").map { .emit(event: $0, arguments: $1) }
            case "ack": self = try Self.event(rest, "ack").map { .ack(event: $0, arguments: $1) }
            case "reply": self = try Self.event(rest, "reply").map { .reply(event: $0, arguments: $1) }
            case "listen":
                var events: [String] = []
                for word in rest { events.append(try Self.name(word)) }
                self = .listen(events: events)
            case "wait":
                guard rest.count == 1, let seconds = rest.first.flatMap({ Double($0) }), seconds >= 0, seconds <= 86_400 else {
                    throw ConnectLineError(message: "wait SECONDS: a number from 0 to 86400; for example: wait 1.5")
                }
                self = .wait(.milliseconds(Int64(seconds * 1000)))
            case "state": self = .state
            case "help", "?": self = .help
            case "quit", "exit": self = .quit
            default: throw ConnectLineError(message: "unknown command \(command); help lists the commands")
            }
        } catch {
            self = .mistake(error.message)
        }
    }

    static let helpText = """
        emit EVENT VALUE…    send an event
        ack EVENT VALUE…     send an event, wait for its ack and show the round-trip time
        reply EVENT VALUE…   acknowledge the server's events of this name with these values
        listen [EVENT…]      show only these events, or all, and stay connected after the input ends, until Ctrl-C
        wait SECONDS         wait and show received events
        state                show the state of the connection
        quit                 disconnect and quit (also at the end of the input)
        A VALUE is JSON: 1, true, null, "text", [1,2], {"a":1}; or @FILE for the bytes of a file.
        An EVENT with spaces must be in quotes: emit "chat message" "hello"
        """

    // MARK: Words

    /// Splits a line at white space outside of quotes, brackets and braces.
    static func words(_ line: String) throws(ConnectLineError) -> [Substring] {
        var words: [Substring] = []
        var start: String.Index?
        var depth = 0
        var isQuoted = false
        var isEscaped = false
        for index in line.indices {
            let character = line[index]
            if start == nil {
                if character.isWhitespace { continue }
                start = index
            }
            if isQuoted {
                if isEscaped {
                    isEscaped = false
                } else if character == "\\" {
                    isEscaped = true
                } else if character == "\"" {
                    isQuoted = false
                }
                continue
            }
            switch character {
            case "\"": isQuoted = true
            case "[", "{": depth += 1
            case "]", "}": depth -= 1
            default: break
            }
            if depth <= 0, character.isWhitespace, let first = start {
                words.append(line[first..<index])
                start = nil
                depth = 0
            }
        }
        guard !isQuoted else { throw ConnectLineError(message: "a quotation mark is not closed; add a closing \"") }
        guard depth <= 0 else { throw ConnectLineError(message: "a bracket is not closed; a value must be on one line") }
        if let start { words.append(line[start...]) }
        return words
    }

    private static func event(_ words: ArraySlice<Substring>, _ command: String) throws(ConnectLineError) -> ConnectEvent {
        guard let first = words.first else {
            throw ConnectLineError(message: "\(command) EVENT VALUE…: the event is missing; for example: \(command) echo 1 \"two\"")
        }
        var arguments: [JSONValue] = []
        for word in words.dropFirst() { arguments.append(try self.value(word)) }
        return ConnectEvent(name: try self.name(first), arguments: arguments)
    }

    private static func name(_ word: Substring) throws(ConnectLineError) -> String {
        guard word.hasPrefix("\"") else { return String(word) }
        guard let name = try self.value(word).stringValue else { throw ConnectLineError(message: "\(word) is not the name of an event") }
        return name
    }

    /// Parses a value: JSON, or `@FILE` for the bytes of a file.
    static func value(_ word: some StringProtocol) throws(ConnectLineError) -> JSONValue {
        if word.hasPrefix("@") {
            let path = String(word.dropFirst())
            guard let data = FileManager.default.contents(atPath: path) else {
                throw ConnectLineError(message: "cannot read the file \(path)")
            }
            return .binary([UInt8](data))
        }
        do throws(JSONError) {
            return try JSONReader.read(word)
        } catch {
            let hint = word.allSatisfy { $0.isLetter } ? "; a string must be in quotes: \"\(word)\"" : ": \(error)"
            throw ConnectLineError(message: "\(word) is not JSON\(hint)")
        }
    }
}

/// An error in an input line, with a message for the user.
struct ConnectLineError: Error, Equatable {
    var message: String
}

/// A parsed event and its arguments.
private struct ConnectEvent {
    var name: String
    var arguments: [JSONValue]

    func map(_ make: (String, [JSONValue]) -> ConnectLine) -> ConnectLine { make(self.name, self.arguments) }
}

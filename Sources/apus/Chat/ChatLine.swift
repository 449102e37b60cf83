/// A parsed input line: a message or a command.
enum ChatLine: Equatable {
    case text(String)
    case list
    case open(String)
    case file(path: String, caption: String?)
    case save(seq: Int64?, path: String?)
    case users(String)
    case new(title: String, members: [String])
    case history
    case reply(seq: Int64?, text: String)
    case edit(seq: Int64?, text: String)
    case recall(seq: Int64?)
    case react(seq: Int64?, key: String, isOn: Bool)
    case pin(seq: Int64?, isOn: Bool)
    case search(String)
    case members(String?)
    case add([String])
    case remove([String])
    case leave
    case mute(hours: Int?)
    case requests
    case answer(String, accepts: Bool)
    case contact(name: String, text: String?)
    case block(name: String, isOn: Bool)
    case retry
    case discard
    case logout
    case help
    case quit
    case nothing
    case mistake(String)

    init(_ line: String) {
        let trimmed = line.trimmingPrefix { $0 == " " }
        guard trimmed.hasPrefix("/"), !trimmed.hasPrefix("//") else {
            // A leading double slash is sent as one slash.
            let text = trimmed.hasPrefix("//") ? String(trimmed.dropFirst()) : line
            self = text.allSatisfy(\.isWhitespace) ? .nothing : .text(text)
            return
        }
        let words = trimmed.dropFirst().split(separator: " ", maxSplits: 1)
        let name = words.first.map(String.init) ?? ""
        let rest = words.count > 1 ? words[1].trimmed : ""
        self =
            Self.aboutMessages(name, rest) ?? Self.aboutPeople(name, rest) ?? Self.plain(name, rest)
            ?? .mistake("unknown command /\(name); see /help (to send a message that begins with /, type //)")
    }

    /// Whether the line concerns the last message rather than one with a number.
    var concernsLastMessage: Bool {
        switch self {
        case .edit(nil, _), .recall(nil), .react(nil, _, _), .pin(nil, _): true
        default: false
        }
    }

    private static func plain(_ name: String, _ rest: String) -> Self? {
        switch name {
        case "chats", "list", "l": .list
        case "open", "o": rest.isEmpty ? .mistake("/open NAME: the name is missing") : .open(rest)
        case "search", "s": rest.isEmpty ? .mistake("/search WORDS: the words are missing") : .search(rest)
        case "history", "h": .history
        case "leave": .leave
        case "mute":
            rest.isEmpty
                ? .mute(hours: nil)
                : Int(rest).flatMap { $0 > 0 && $0 <= 87_600 ? .mute(hours: $0) : nil }
                    ?? .mistake("/mute [HOURS]: the hours must be from 1 to 87600")
        case "unmute": .mute(hours: 0)
        case "retry": .retry
        case "discard": .discard
        case "logout": .logout
        case "help", "?": .help
        case "quit", "q", "exit": .quit
        default: nil
        }
    }

    private static func aboutMessages(_ name: String, _ rest: String) -> Self? {
        let (seq, words) = Self.numbered(rest)
        switch name {
        case "file", "image", "f", "i": return Self.file(rest)
        case "save": return .save(seq: seq, path: words.isEmpty ? nil : words)
        case "reply", "r": return words.isEmpty ? .mistake("/reply [#NUMBER] TEXT: the text is missing") : .reply(seq: seq, text: words)
        case "edit", "e": return words.isEmpty ? .mistake("/edit [#NUMBER] TEXT: the text is missing") : .edit(seq: seq, text: words)
        case "recall": return .recall(seq: seq)
        case "react", "unreact":
            return words.isEmpty
                ? .mistake("/\(name) [#NUMBER] EMOJI: the emoji is missing") : .react(seq: seq, key: words, isOn: name == "react")
        case "pin": return .pin(seq: seq, isOn: true)
        case "unpin": return .pin(seq: seq, isOn: false)
        default: return nil
        }
    }

    private static func aboutPeople(_ name: String, _ rest: String) -> Self? {
        let words = rest.split(separator: " ", maxSplits: 1).map(String.init)
        let user = words.first.map { $0.hasPrefix("@") ? String($0.dropFirst()) : $0 } ?? ""
        let missing = Self.mistake("/\(name) NAME: the name is missing")
        switch name {
        case "users", "u": return rest.isEmpty ? missing : .users(rest)
        case "members": return .members(rest.isEmpty ? nil : rest)
        case "group", "new", "n": return Self.group(rest)
        case "add", "remove":
            let names = Self.names(rest)
            return names.isEmpty ? missing : name == "add" ? .add(names) : .remove(names)
        case "requests": return .requests
        case "accept", "decline":
            return user.isEmpty ? missing : .answer(rest.hasPrefix("@") ? String(rest.dropFirst()) : rest, accepts: name == "accept")
        case "contact": return user.isEmpty ? missing : .contact(name: user, text: words.count > 1 ? words[1].trimmed : nil)
        case "block", "unblock": return user.isEmpty ? missing : .block(name: user, isOn: name == "block")
        default: return nil
        }
    }

    /// Splits `#17 words` into the number and the words.
    private static func numbered(_ rest: String) -> (seq: Int64?, words: String) {
        guard rest.hasPrefix("#") else { return (nil, rest) }
        let words = rest.dropFirst().split(separator: " ", maxSplits: 1)
        guard let seq = words.first.flatMap({ Int64($0) }), seq > 0 else { return (nil, rest) }
        return (seq, words.count > 1 ? words[1].trimmed : "")
    }

    private static func file(_ rest: String) -> Self {
        // A path with spaces must be in quotes.
        if rest.hasPrefix("\""), let end = rest.dropFirst().firstIndex(of: "\"") {
            let caption = rest[rest.index(after: end)...].trimmed
            return .file(path: String(rest[rest.index(after: rest.startIndex)..<end]), caption: caption.isEmpty ? nil : caption)
        }
        let words = rest.split(separator: " ", maxSplits: 1).map(String.init)
        guard let path = words.first else { return .mistake("/file FILE [CAPTION]: the file is missing") }
        return .file(path: path, caption: words.count > 1 ? words[1] : nil)
    }

    private static func group(_ rest: String) -> Self {
        let parts = rest.split(separator: ":", maxSplits: 1)
        let names = parts.count > 1 ? Self.names(String(parts[1])) : []
        guard let title = parts.first?.trimmed, !title.isEmpty, !names.isEmpty else {
            return .mistake("/group TITLE: NAME NAME …: the title or the names are missing")
        }
        return .new(title: title, members: names)
    }

    private static func names(_ text: String) -> [String] {
        text.split(whereSeparator: { $0 == " " || $0 == "," }).map { $0.hasPrefix("@") ? String($0.dropFirst()) : String($0) }
    }

    /// The commands, for completion.
    static let commands = [
        "/chats", "/open", "/history", "/search", "/file", "/save", "/reply", "/edit", "/recall", "/react", "/unreact", "/pin", "/unpin",
        "/users", "/contact", "/block", "/unblock", "/requests", "/accept", "/decline", "/group", "/members", "/add", "/remove", "/leave",
        "/mute", "/unmute", "/retry", "/discard", "/logout", "/help", "/quit",
    ]

    static let helpText = """
        /chats                    list the conversations
        /open NAME                open a conversation, by user name, group title or number in /chats
        /history                  show earlier messages
        /search WORDS             find messages
        /file FILE [CAPTION]      send a file or picture
        /save [#N] [PATH]         save a received file
        /reply [#N] TEXT          answer a message: number N, or the last one of another user
        /edit [#N] TEXT           replace the text of an own message
        /recall [#N]              remove an own message for all
        /react [#N] EMOJI         react to a message; /unreact takes it back
        /pin [#N], /unpin [#N]    pin a message for all
        /users NAME               find users
        /contact NAME [TEXT]      ask a user to become a contact; /block NAME, /unblock NAME
        /requests                 list contact requests and invitations; /accept NAME, /decline NAME
        /group TITLE: NAME NAME … create a group
        /members, /add NAME …, /remove NAME …, /leave
        /mute [HOURS], /unmute    do not show messages of the open conversation elsewhere
        /retry, /discard          send refused messages again, or remove them
        /logout                   end this session and remove the store
        /quit                     quit; unsent messages are sent next time
        Any other line is sent to the open conversation. A line that begins with // is sent with one /.
        """
}

extension StringProtocol {
    fileprivate var trimmed: String {
        let start = self.drop { $0 == " " }
        guard let end = start.lastIndex(where: { $0 != " " }) else { return "" }
        return String(start[...end])
    }
}

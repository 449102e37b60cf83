/// A parsed input line: a message or a command.
enum ChatLine: Equatable {
    case text(String)
    case list
    case open(String)
    case image(path: String, caption: String?)
    case users(String?)
    case more
    case new(title: String, members: [String])
    case history
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
        let rest = words.count > 1 ? words[1].trimmed : ""
        switch words.first.map(String.init) ?? "" {
        case "list", "l": self = .list
        case "open", "o": self = rest.isEmpty ? .mistake("/open NAME: the name is missing") : .open(rest)
        case "image", "i": self = Self.image(rest)
        case "users", "u": self = .users(rest.isEmpty ? nil : rest)
        case "more", "m": self = .more
        case "new", "n": self = Self.group(rest)
        case "history", "h": self = .history
        case "logout": self = .logout
        case "help", "?": self = .help
        case "quit", "q", "exit": self = .quit
        case let other: self = .mistake("unknown command /\(other); see /help (to send a message that begins with /, type //)")
        }
    }

    private static func image(_ rest: String) -> Self {
        // A path with spaces must be in quotes.
        if rest.hasPrefix("\""), let end = rest.dropFirst().firstIndex(of: "\"") {
            let caption = rest[rest.index(after: end)...].trimmed
            return .image(path: String(rest[rest.index(after: rest.startIndex)..<end]), caption: caption.isEmpty ? nil : caption)
        }
        let words = rest.split(separator: " ", maxSplits: 1).map(String.init)
        guard let path = words.first else { return .mistake("/image FILE [CAPTION]: the file is missing") }
        return .image(path: path, caption: words.count > 1 ? words[1] : nil)
    }

    private static func group(_ rest: String) -> Self {
        let parts = rest.split(separator: ":", maxSplits: 1)
        let names = parts.count > 1 ? parts[1].split(whereSeparator: { $0 == " " || $0 == "," }).map(String.init) : []
        guard let title = parts.first?.trimmed, !title.isEmpty, !names.isEmpty else {
            return .mistake("/new TITLE: NAME NAME …: the title or the names are missing")
        }
        return .new(title: title, members: names)
    }

    static let helpText = """
        /list                    list the conversations
        /open NAME               open a conversation, by user name, group title or number in /list
        /new TITLE: NAME NAME …  create a group
        /image FILE [CAPTION]    send a picture (PNG, JPEG, GIF, WebP)
        /history                 show earlier messages
        /users [NAME]            find users by any part of their names; @NAME searches user names only
        /more                    show more users
        /logout                  end this session on the server
        /quit                    quit; unsent messages are sent next time
        Any other line is sent to the open conversation.
        """
}

extension StringProtocol {
    fileprivate var trimmed: String {
        let start = self.drop { $0 == " " }
        guard let end = start.lastIndex(where: { $0 != " " }) else { return "" }
        return String(start[...end])
    }
}

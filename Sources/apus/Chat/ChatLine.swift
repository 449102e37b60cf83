/// What a typed line means.
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
            // Two slashes write one.
            let text = trimmed.hasPrefix("//") ? String(trimmed.dropFirst()) : line
            self = text.allSatisfy(\.isWhitespace) ? .nothing : .text(text)
            return
        }
        let words = trimmed.dropFirst().split(separator: " ", maxSplits: 1)
        let rest = words.count > 1 ? words[1].trimmed : ""
        switch words.first.map(String.init) ?? "" {
        case "list", "l": self = .list
        case "open", "o": self = rest.isEmpty ? .mistake("/open NAME: whom?") : .open(rest)
        case "image", "i": self = Self.image(rest)
        case "users", "u": self = .users(rest.isEmpty ? nil : rest)
        case "more", "m": self = .more
        case "new", "n": self = Self.group(rest)
        case "history", "h": self = .history
        case "logout": self = .logout
        case "help", "?": self = .help
        case "quit", "q", "exit": self = .quit
        case let other: self = .mistake("there is no /\(other); see /help (a text that begins with / is written with //)")
        }
    }

    private static func image(_ rest: String) -> Self {
        // A path with spaces stands in quotes.
        if rest.hasPrefix("\""), let end = rest.dropFirst().firstIndex(of: "\"") {
            let caption = rest[rest.index(after: end)...].trimmed
            return .image(path: String(rest[rest.index(after: rest.startIndex)..<end]), caption: caption.isEmpty ? nil : caption)
        }
        let words = rest.split(separator: " ", maxSplits: 1).map(String.init)
        guard let path = words.first else { return .mistake("/image FILE [CAPTION]: which file?") }
        return .image(path: path, caption: words.count > 1 ? words[1] : nil)
    }

    private static func group(_ rest: String) -> Self {
        let parts = rest.split(separator: ":", maxSplits: 1)
        let names = parts.count > 1 ? parts[1].split(whereSeparator: { $0 == " " || $0 == "," }).map(String.init) : []
        guard let title = parts.first?.trimmed, !title.isEmpty, !names.isEmpty else { return .mistake("/new TITLE: NAME NAME …") }
        return .new(title: title, members: names)
    }

    static let helpText = """
        /list                    the conversations
        /open NAME               a conversation, by a person's name, a group's title or its number in /list
        /new TITLE: NAME NAME …  make a group
        /image FILE [CAPTION]    send a picture (PNG, JPEG, GIF, WebP)
        /history                 earlier messages
        /users [NAME]            people, by any part of their names; @NAME: by the user name alone
        /more                    more of them
        /logout                  end this session on the server
        /quit                    leave; what is not sent yet goes out next time
        Anything else is sent to the open conversation.
        """
}

extension StringProtocol {
    fileprivate var trimmed: String {
        let start = self.drop { $0 == " " }
        guard let end = start.lastIndex(where: { $0 != " " }) else { return "" }
        return String(start[...end])
    }
}

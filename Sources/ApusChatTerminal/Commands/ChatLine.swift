import ApusBytes
import ApusChatClient

/// A command with its arguments.
package struct ChatCall: Hashable, Sendable {
    package var name: ChatCommandName
    /// The `seq` of each message that the command names; empty if it names none.
    package var seqs: [Int64]
    /// The text after the name and the numbers, without leading and trailing spaces.
    package var words: String

    package init(_ name: ChatCommandName, _ seqs: [Int64] = [], _ words: String = "") {
        self.name = name
        self.seqs = seqs
        self.words = words
    }

    /// Whether the command applies to the last message because it names none.
    package var concernsLastMessage: Bool {
        guard self.seqs.isEmpty else { return false }
        switch self.name {
        case .edit, .versions, .unpreview, .recall, .react, .unreact, .reactions, .pin, .hide, .forward, .readers, .vote, .votes,
            .closepoll:
            return true
        default: return false
        }
    }

    /// The error for arguments that the command does not accept. It names the possible values,
    /// which are part of the usage, or of the help of commands with several settings.
    var isNotValid: ChatClientError {
        let values = [.set, .privacy].contains(self.name) ? "; \(self.name.form.help)" : ""
        return ChatClientError(.invalidUse, message: "\(self.name.usage): \"\(ChatText.harmless(self.words))\" is not valid\(values)")
    }

    /// The first word without a leading `@`, and the remaining text.
    package var named: (name: String, rest: String) {
        let parts = self.words.split(separator: " ", maxSplits: 1).map(String.init)
        return (Self.bare(parts.first ?? ""), parts.count > 1 ? parts[1].trimmingSpaces : "")
    }

    /// The words as names, without leading `@`.
    package var names: [String] { Self.names(self.words) }

    static func names(_ text: some StringProtocol) -> [String] {
        text.split(whereSeparator: { $0 == " " || $0 == "," }).map { self.bare(String($0)) }
    }

    private static func bare(_ name: String) -> String { name.hasPrefix("@") ? String(name.dropFirst()) : name }
}

/// A line that the user typed: a message or a command.
package enum ChatLine: Hashable, Sendable {
    case text(String)
    case command(ChatCall)
    case nothing
    case mistake(String)

    private static let maximumSeqs = 100

    package init(_ line: String) {
        let trimmed = line.trimmingPrefix { $0 == " " }
        guard trimmed.hasPrefix("/"), !trimmed.hasPrefix("//") else {
            // Of a leading double slash, one slash is sent.
            let text = trimmed.hasPrefix("//") ? String(trimmed.dropFirst()) : line
            self = text.allSatisfy(\.isWhitespace) ? .nothing : .text(text)
            return
        }
        let parts = trimmed.dropFirst().split(maxSplits: 1, whereSeparator: \.isWhitespace)
        var name = parts.first.map { $0.lowercased() } ?? ""
        var words = parts.count > 1 ? parts[1].trimmingSpaces : ""
        if name == "poll*" { (name, words) = ("poll", "* " + words) }
        guard let command = ChatCommandName.byName[name] else {
            self = .mistake("unknown command /\(TerminalText.plain(name)); see /help (to send a message that begins with /, type //)")
            return
        }
        var call = ChatCall(command)
        if command.takesMessages { (call.seqs, words) = Self.numbered(words) }
        call.words = words
        if let missing = command.form.missing, words.isEmpty {
            self = .mistake("\(command.usage): the \(missing) is missing")
        } else if command.form.arguments.isEmpty, command != .help, !words.isEmpty {
            // A user who types `/leave bob` or `/discard #3` means another command.
            self = .mistake("\(command.usage) has no arguments, not \"\(TerminalText.plain(words))\"")
        } else if command == .jump, call.seqs.count != 1 {
            self = .mistake("\(command.usage): the number is missing")
        } else {
            self = .command(call)
        }
    }

    /// Splits a text such as `#3,#5-#9 words` into numbers and words.
    private static func numbered(_ text: String) -> (seqs: [Int64], words: String) {
        guard text.hasPrefix("#") else { return ([], text) }
        let parts = text.split(separator: " ", maxSplits: 1)
        var seqs: [Int64] = []
        for item in (parts.first ?? "").split(separator: ",") {
            // A range without an end, such as `#3-`, must not become its first message.
            let ends = item.split(separator: "-", omittingEmptySubsequences: false).map { Int64(digits: $0.trimmingPrefix("#")) ?? 0 }
            guard let first = ends.first, let last = ends.last, ends.count <= 2, first > 0, last >= first,
                last - first < Int64(Self.maximumSeqs - seqs.count)
            else { return ([], text) }
            seqs += Array(first...last)
        }
        return (seqs, parts.count > 1 ? parts[1].trimmingSpaces : "")
    }
}

extension StringProtocol {
    /// The text without leading and trailing spaces.
    var trimmingSpaces: String {
        let start = self.drop { $0 == " " }
        guard let end = start.lastIndex(where: { $0 != " " }) else { return "" }
        return String(start[...end])
    }
}

/// The commands of the chat in a terminal, in the order of the help.
package enum ChatCommandName: String, CaseIterable, Hashable, Sendable {
    // Reading.
    case chats, archived, open, notes, history, jump, search, pins, thread
    // Writing.
    case reply, edit, recall, hide, forward, react, unreact, reactions, readers, pin, unpin
    case file, save, view, poll, vote, closepoll, schedule, scheduled, unschedule, retry, discard
    // The open conversation.
    case members, add, remove, ban, unban, banned, role, silence, unsilence, approve, leave
    case mute, unmute, top, untop, archive, unarchive, unread, delete
    case info, title, about, slow, expire, write, joining, listed, links, link, revoke
    // Other conversations and people.
    case group, channel, directory, join
    case users, contacts, contact, uncontact, alias, block, unblock, blocked, requests, accept, decline, report
    // The account and the program.
    case nick, status, sessions, signout, logout, help, quit

    /// How a command is written.
    struct Form: Sendable {
        /// What follows the name. `[#N]` stands for messages by their numbers.
        var arguments = ""
        var help: String
        var aliases: [String] = []
        /// What must follow the name and the numbers; nil if it may be left out.
        var missing: String?
    }

    var takesMessages: Bool { self.form.arguments.contains("#N") }

    /// The name with its arguments.
    package var usage: String { "/\(self.rawValue)" + (self.form.arguments.isEmpty ? "" : " " + self.form.arguments) }

    /// The names and aliases of all commands.
    static let byName: [String: Self] = {
        var names: [String: Self] = [:]
        for command in Self.allCases { for name in [command.rawValue] + command.form.aliases { names[name] = command } }
        return names
    }()

    /// The commands as they are typed, for completion.
    package static let words = Self.allCases.map { "/" + $0.rawValue }

    /// The groups of the help.
    package static let groups: [(title: String, commands: [Self])] = [
        ("Read", Self.range(.chats, .thread)), ("Write", Self.range(.reply, .discard)),
        ("The open conversation", Self.range(.members, .revoke)), ("Conversations and people", Self.range(.group, .report)),
        ("Account", Self.range(.nick, .quit)),
    ]

    private static func range(_ first: Self, _ last: Self) -> [Self] {
        let all = Self.allCases
        guard let start = all.firstIndex(of: first), let end = all.firstIndex(of: last) else { return [] }
        return Array(all[start...end])
    }

    static let helpNotes = [
        "#N is the number of a message, also several: #3,#5-#9. Without it, the selected or the last message is meant.",
        "Any other line is sent to the open conversation. A line that begins with // is sent with one /.",
    ]

    /// The help, one line a command.
    package static var helpLines: [String] {
        var lines: [String] = []
        for (title, commands) in self.groups {
            lines.append((lines.isEmpty ? "" : "\n") + title)
            lines += commands.map { TerminalText.padded("  " + $0.usage, to: 36) + "  " + $0.form.help }
        }
        lines += [""] + self.helpNotes
        return lines.flatMap { $0.split(separator: "\n", omittingEmptySubsequences: false).map(String.init) }
    }

    var form: Form {
        switch self {
        case .chats: Form(arguments: "[all]", help: "list the conversations", aliases: ["list", "l"])
        case .archived: Form(help: "list the archived conversations")
        case .open:
            Form(
                arguments: "NAME", help: "open a conversation, by user name, title or number in the list", aliases: ["o", "chat"],
                missing: "name")
        case .notes: Form(help: "open the own notes")
        case .history: Form(help: "show earlier messages", aliases: ["h"])
        case .jump: Form(arguments: "#N", help: "show the messages around a message", aliases: ["j"])
        case .search: Form(arguments: "WORDS", help: "find messages", aliases: ["s"], missing: "words")
        case .pins: Form(help: "list the pinned messages")
        case .thread: Form(arguments: "[#N] [TEXT]", help: "show the thread of a message, or answer in it", aliases: ["t"])
        case .reply:
            Form(
                arguments: "[#N] TEXT", help: "answer a message: number N, or the last one of another user", aliases: ["r"], missing: "text"
            )
        case .edit: Form(arguments: "[#N] TEXT", help: "replace the text of an own message", aliases: ["e"], missing: "text")
        case .recall: Form(arguments: "[#N]", help: "remove an own message for all")
        case .hide: Form(arguments: "[#N]", help: "remove messages from the own view")
        case .forward: Form(arguments: "[#N] NAME [: TITLE]", help: "send messages on; with a title as one message", missing: "name")
        case .react: Form(arguments: "[#N] EMOJI", help: "react to a message", missing: "emoji")
        case .unreact: Form(arguments: "[#N] EMOJI", help: "take a reaction back", missing: "emoji")
        case .reactions: Form(arguments: "[#N]", help: "list who reacted")
        case .readers: Form(arguments: "[#N]", help: "list who received and read an own message")
        case .pin: Form(arguments: "[#N]", help: "pin a message for all")
        case .unpin: Form(arguments: "[#N]", help: "unpin a message for all")
        case .file: Form(arguments: "FILE [CAPTION]", help: "send a file or picture", aliases: ["image", "f", "i"], missing: "file")
        case .save: Form(arguments: "[#N] [PATH]", help: "save a received file")
        case .view: Form(arguments: "[#N]", help: "save a received file and open it with its program")
        case .poll: Form(arguments: "QUESTION | A | B", help: "ask a question; /poll* allows several votes", missing: "question")
        case .vote: Form(arguments: "[#N] NUMBER …", help: "vote in a poll; /vote 0 takes the votes back", missing: "number of the option")
        case .closepoll: Form(arguments: "[#N]", help: "end an own poll")
        case .schedule:
            Form(
                arguments: "TIME TEXT", help: "send later; the time as +30m, 18:00 or 2026-12-24T18:00", aliases: ["later"], missing: "time"
            )
        case .scheduled: Form(help: "list the messages that are sent later")
        case .unschedule: Form(arguments: "NUMBER", help: "remove a scheduled message, by its number in the list", missing: "number")
        case .retry: Form(help: "send refused messages again")
        case .discard: Form(help: "remove refused messages")
        case .members: Form(arguments: "[NAME]", help: "list the members; again for the next ones")
        case .add: Form(arguments: "NAME …", help: "add contacts, and invite other users", aliases: ["invite"], missing: "name")
        case .remove: Form(arguments: "NAME …", help: "remove members", aliases: ["kick"], missing: "name")
        case .ban: Form(arguments: "NAME [HOURS]", help: "ban a user", missing: "name")
        case .unban: Form(arguments: "NAME", help: "lift a ban", missing: "name")
        case .banned: Form(help: "list the banned users")
        case .role: Form(arguments: "NAME ROLE", help: "make a member owner, admin, member or reader", missing: "name")
        case .silence: Form(arguments: "NAME [HOURS]", help: "a member may not write", missing: "name")
        case .unsilence: Form(arguments: "NAME", help: "a member may write again", missing: "name")
        case .approve: Form(arguments: "[NAME]", help: "list who asks to join, or admit a user")
        case .leave: Form(help: "leave the conversation")
        case .mute: Form(arguments: "[HOURS]", help: "do not tell of messages of this conversation")
        case .unmute: Form(help: "tell of messages again")
        case .top: Form(help: "keep the conversation at the top of the list")
        case .untop: Form(help: "do not keep it at the top")
        case .archive: Form(help: "move the conversation to the archive")
        case .unarchive: Form(help: "move it back to the list")
        case .unread: Form(help: "mark the conversation as unread")
        case .delete: Form(arguments: "[all]", help: "remove the conversation from the own list, or for all")
        case .info: Form(help: "show the description and settings")
        case .title: Form(arguments: "TITLE", help: "change the title", missing: "title")
        case .about: Form(arguments: "[TEXT]", help: "change the description")
        case .slow: Form(arguments: "SECONDS", help: "the time between two messages of a member", missing: "seconds")
        case .expire:
            Form(
                arguments: "TIME", help: "messages disappear after a time such as 7d; 0 for never", aliases: ["disappear"], missing: "time")
        case .write: Form(arguments: "members|admins", help: "the members that may write", missing: "choice")
        case .joining: Form(arguments: "open|approval|closed", help: "how users join", missing: "choice")
        case .listed: Form(arguments: "yes|no", help: "whether the directory lists it", missing: "choice")
        case .links: Form(help: "list the invite links")
        case .link: Form(arguments: "[HOURS] [USES]", help: "create an invite link")
        case .revoke: Form(arguments: "CODE", help: "make an invite link void", missing: "code")
        case .group: Form(arguments: "TITLE: NAME …", help: "create a group", aliases: ["new", "n"], missing: "title")
        case .channel: Form(arguments: "TITLE", help: "create a channel that the directory lists", missing: "title")
        case .directory: Form(arguments: "[WORDS]", help: "list the groups and channels that can be joined", aliases: ["dir"])
        case .join: Form(arguments: "CODE|NUMBER", help: "join by a link, or by the number in the directory", missing: "code")
        case .users: Form(arguments: "NAME", help: "find users", aliases: ["u"], missing: "name")
        case .contacts: Form(help: "list the contacts")
        case .contact: Form(arguments: "NAME [TEXT]", help: "ask a user to become a contact", missing: "name")
        case .uncontact: Form(arguments: "NAME", help: "remove a contact", missing: "name")
        case .alias: Form(arguments: "NAME [ALIAS]", help: "give a contact another name in the own lists", missing: "name")
        case .block: Form(arguments: "NAME", help: "block a user", missing: "name")
        case .unblock: Form(arguments: "NAME", help: "no longer block a user", missing: "name")
        case .blocked: Form(help: "list the blocked users")
        case .requests: Form(help: "list contact requests and invitations")
        case .accept: Form(arguments: "NAME", help: "accept a request or an invitation", missing: "name")
        case .decline: Form(arguments: "NAME", help: "decline a request or an invitation", missing: "name")
        case .report:
            Form(arguments: "[#N] [NAME] REASON [TEXT]", help: "report messages or a user: spam, abuse, violence, …", missing: "reason")
        case .nick: Form(arguments: "[NAME]", help: "change the own shown name")
        case .status: Form(arguments: "[TEXT]", help: "change the own status text")
        case .sessions: Form(help: "list the devices that are signed in")
        case .signout: Form(arguments: "NUMBER|others", help: "sign out a device, by its number in the list", missing: "number")
        case .logout: Form(help: "end this session and remove the store")
        case .help: Form(help: "show this list", aliases: ["?"])
        case .quit: Form(help: "quit; unsent messages are sent next time", aliases: ["q", "exit"])
        }
    }
}

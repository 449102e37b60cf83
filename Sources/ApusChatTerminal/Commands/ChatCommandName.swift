/// The commands of the terminal chat, in the order of the help.
package enum ChatCommandName: String, CaseIterable, Hashable, Sendable {
    // Reading.
    case chats, archived, open, notes, history, jump, search, pins, thread
    // Writing.
    case reply, edit, versions, unpreview, recall, hide, forward, react, unreact, reactions, readers, pin, unpin
    case silent, file, save, view, poll, vote, votes, closepoll, schedule, scheduled, unschedule, retry, discard
    // The open conversation.
    case members, add, remove, ban, unban, banned, role, silence, unsilence, approve, reject, leave
    case mute, unmute, top, untop, archive, unarchive, folder, unfolder, unread, delete
    case info, title, about, slow, expire, write, set, joining, listed, links, link, revoke
    // Other conversations and people.
    case group, channel, directory, join
    case users, contacts, contact, uncontact, alias, block, unblock, blocked, requests, accept, decline, withdraw, report
    // The account and the program.
    case nick, status, privacy, quiet, folders, sessions, signout, export, logout, help, quit

    /// The syntax of a command.
    struct Form: Sendable {
        /// The arguments that follow the name. `[#N]` stands for the numbers of messages.
        var arguments = ""
        var help: String
        var aliases: [String] = []
        /// The name of the required argument, for the error message if it is missing; nil if no
        /// argument is required.
        var missing: String?
    }

    var takesMessages: Bool { self.form.arguments.contains("#N") }

    /// The name with its arguments.
    package var usage: String { "/\(self.rawValue)" + (self.form.arguments.isEmpty ? "" : " " + self.form.arguments) }

    /// The commands by their names and aliases.
    static let byName: [String: Self] = {
        var names: [String: Self] = [:]
        for command in Self.allCases { for name in [command.rawValue] + command.form.aliases { names[name] = command } }
        return names
    }()

    /// The commands with their slash, for completion.
    package static let words = Self.allCases.map { "/" + $0.rawValue }

    /// The groups of commands in the help.
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
        "#N is the number of a message, or several: #3,#5-#9. Without it, a command applies to the selected or the last message.",
        "Any other line is sent to the open conversation. A line that begins with // is sent with one /.",
    ]

    /// The lines of the help: for each group its title and one line for each command, then notes.
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
        case .chats: Form(arguments: "[all|FOLDER]", help: "list the conversations", aliases: ["list", "l"])
        case .archived: Form(help: "list the archived conversations")
        case .open:
            Form(
                arguments: "NAME", help: "open a conversation, by user name, title or number in the list", aliases: ["o", "chat"],
                missing: "name")
        case .notes: Form(help: "open your notes")
        case .history: Form(help: "show earlier messages", aliases: ["h"])
        case .jump: Form(arguments: "#N", help: "show the messages around a message", aliases: ["j"])
        case .search:
            Form(
                arguments: "[FILTERS] WORDS",
                help: "find messages; filters: from:NAME, in:NAME (. is this one), kind:file, after:7d, before:7d",
                aliases: ["s"], missing: "words")
        case .pins: Form(help: "list the pinned messages")
        case .thread: Form(arguments: "[#N] [TEXT]", help: "show the thread of a message, or answer in it", aliases: ["t"])
        case .reply:
            Form(
                arguments: "[#N] TEXT", help: "answer a message: number N, or the last one of another user", aliases: ["r"], missing: "text"
            )
        case .edit: Form(arguments: "[#N] TEXT", help: "replace the text of one of your messages", aliases: ["e"], missing: "text")
        case .versions: Form(arguments: "[#N]", help: "list the versions of an edited message")
        case .unpreview: Form(arguments: "[#N]", help: "remove the preview of a link from one of your messages")
        case .recall: Form(arguments: "[#N]", help: "remove one of your messages for all")
        case .hide: Form(arguments: "[#N]", help: "hide messages from yourself")
        case .forward: Form(arguments: "[#N] NAME [: TITLE]", help: "forward messages; with a title as one message", missing: "name")
        case .react: Form(arguments: "[#N] EMOJI", help: "react to a message", missing: "emoji")
        case .unreact: Form(arguments: "[#N] EMOJI", help: "remove a reaction", missing: "emoji")
        case .reactions: Form(arguments: "[#N]", help: "list the users who reacted")
        case .readers: Form(arguments: "[#N]", help: "list the members who received or read a message")
        case .pin: Form(arguments: "[#N]", help: "pin a message for all")
        case .unpin: Form(arguments: "[#N]", help: "unpin a message for all")
        case .silent: Form(arguments: "TEXT", help: "send a message without notifying the members", missing: "text")
        case .file: Form(arguments: "FILE [CAPTION]", help: "send a file or picture", aliases: ["image", "f", "i"], missing: "file")
        case .save: Form(arguments: "[#N] [PATH]", help: "save a received file")
        case .view: Form(arguments: "[#N]", help: "save a received file and open it with its program")
        case .poll:
            Form(
                arguments: "QUESTION | A | B",
                help: "create a poll; --several, --anonymous and --until TIME can precede the question",
                missing: "question")
        case .vote: Form(arguments: "[#N] NUMBER …", help: "vote in a poll; /vote 0 withdraws the votes", missing: "number of the option")
        case .votes: Form(arguments: "[#N]", help: "list the users who voted in a poll")
        case .closepoll: Form(arguments: "[#N]", help: "end one of your polls")
        case .schedule:
            Form(
                arguments: "TIME TEXT", help: "send a text later, at +30m, 18:00 or 2026-12-24T18:00", aliases: ["later"], missing: "time"
            )
        case .scheduled: Form(help: "list the scheduled messages")
        case .unschedule: Form(arguments: "NUMBER", help: "remove a scheduled message, by its number in the list", missing: "number")
        case .retry: Form(help: "send refused messages again")
        case .discard: Form(help: "remove refused messages")
        case .members: Form(arguments: "[NAME]", help: "list the members; repeat it for the next page")
        case .add: Form(arguments: "NAME …", help: "add contacts, and invite other users", aliases: ["invite"], missing: "name")
        case .remove: Form(arguments: "NAME …", help: "remove members", aliases: ["kick"], missing: "name")
        case .ban: Form(arguments: "NAME [HOURS]", help: "ban a user", missing: "name")
        case .unban: Form(arguments: "NAME", help: "lift a ban", missing: "name")
        case .banned: Form(help: "list the banned users")
        case .role: Form(arguments: "NAME ROLE", help: "make a member owner, admin, member, reader or guest", missing: "name")
        case .silence: Form(arguments: "NAME [HOURS]", help: "prevent a member from writing", missing: "name")
        case .unsilence: Form(arguments: "NAME", help: "let a member write again", missing: "name")
        case .approve: Form(arguments: "[NAME]", help: "list the requests to join, or admit a user")
        case .reject: Form(arguments: "NAME", help: "reject a request to join", missing: "name")
        case .leave: Form(help: "leave the conversation")
        case .mute:
            Form(arguments: "[HOURS|mentions]", help: "disable notifications of the conversation, or limit them to mentions")
        case .unmute: Form(help: "enable notifications again")
        case .top: Form(help: "pin the conversation to the top of the list")
        case .untop: Form(help: "unpin the conversation")
        case .archive: Form(help: "move the conversation to the archive")
        case .unarchive: Form(help: "move the conversation back to the list")
        case .folder: Form(arguments: "NAME", help: "put the conversation into a folder, which may be new", missing: "name")
        case .unfolder: Form(arguments: "NAME", help: "remove the conversation from a folder", missing: "name")
        case .unread: Form(help: "mark the conversation as unread")
        case .delete: Form(arguments: "[all]", help: "remove the conversation from your list; with all, delete it for all members")
        case .info: Form(help: "show the description and settings")
        case .title: Form(arguments: "TITLE", help: "change the title", missing: "title")
        case .about: Form(arguments: "[TEXT]", help: "change the description")
        case .slow:
            Form(arguments: "SECONDS", help: "set the minimum time between two messages of a member; 0 turns it off", missing: "seconds")
        case .expire:
            Form(
                arguments: "TIME", help: "set the time after which messages disappear, such as 7d; 0 for never", aliases: ["disappear"],
                missing: "time")
        case .write: Form(arguments: "members|admins", help: "set the members who may write", missing: "choice")
        case .set:
            Form(
                arguments: "SETTING VALUE",
                help: "set invite, manage, pin, mention_all: members|admins; history: all|join; receipts: yes|no",
                missing: "setting")
        case .joining: Form(arguments: "open|approval|closed", help: "set how users join", missing: "choice")
        case .listed: Form(arguments: "yes|no", help: "set whether the directory lists the conversation", missing: "choice")
        case .links: Form(help: "list the invite links")
        case .link:
            Form(
                arguments: "[HOURS] [USES] [ROLE] [approval]",
                help: "create an invite link for members, readers or guests, or with approval by an admin")
        case .revoke: Form(arguments: "CODE", help: "revoke an invite link", missing: "code")
        case .group: Form(arguments: "TITLE: NAME …", help: "create a group", aliases: ["new", "n"], missing: "title")
        case .channel: Form(arguments: "TITLE", help: "create a channel that the directory lists", missing: "title")
        case .directory: Form(arguments: "[WORDS]", help: "list the groups and channels that can be joined", aliases: ["dir"])
        case .join: Form(arguments: "CODE|NUMBER", help: "join by a link, or by the number in the directory", missing: "code")
        case .users: Form(arguments: "NAME", help: "find users", aliases: ["u"], missing: "name")
        case .contacts: Form(help: "list the contacts")
        case .contact: Form(arguments: "NAME [TEXT]", help: "send a contact request to a user", missing: "name")
        case .uncontact: Form(arguments: "NAME", help: "remove a contact", missing: "name")
        case .alias: Form(arguments: "NAME [ALIAS]", help: "set the name of a contact in your lists", missing: "name")
        case .block: Form(arguments: "NAME", help: "block a user", missing: "name")
        case .unblock: Form(arguments: "NAME", help: "unblock a user", missing: "name")
        case .blocked: Form(help: "list the blocked users")
        case .requests: Form(help: "list contact requests and invitations")
        case .accept: Form(arguments: "NAME", help: "accept a request or an invitation", missing: "name")
        case .decline: Form(arguments: "NAME", help: "decline a request or an invitation", missing: "name")
        case .withdraw: Form(arguments: "NAME", help: "withdraw your request to join a group or to become a contact", missing: "name")
        case .report:
            Form(
                arguments: "[#N|NAME|chat] REASON [TEXT]",
                help: "report messages, a user or the open conversation: spam, abuse, violence, …",
                missing: "reason")
        case .nick: Form(arguments: "[NAME|-]", help: "show, change or remove your shown name")
        case .status: Form(arguments: "[TEXT]", help: "change your status text")
        case .privacy:
            Form(
                arguments: "[SETTING VALUE]",
                help: "messages, last_seen, avatar, add, find: all|contacts|none; receipts, typing: yes|no")
        case .quiet: Form(arguments: "[FROM UNTIL|off]", help: "show or set the hours without notifications, such as 22:00 07:00")
        case .folders: Form(arguments: "[delete NAME]", help: "list the folders, or delete one")
        case .sessions: Form(help: "list the devices that are signed in")
        case .signout: Form(arguments: "NUMBER|others", help: "sign out a device, by its number in the list", missing: "number")
        case .export: Form(arguments: "FILE", help: "write the data of the account to a ZIP file", missing: "file")
        case .logout: Form(help: "end this session and remove the store")
        case .help: Form(help: "show this list", aliases: ["?"])
        case .quit: Form(help: "quit; unsent messages are sent next time", aliases: ["q", "exit"])
        }
    }
}

/// A conversation in the list on the screen.
package struct ScreenConversation: Hashable, Sendable {
    package var id: String
    package var title: String
    package var preview: String
    package var time: String
    package var unread: Int64
    package var mentions: Int64
    package var isPinned: Bool
    package var isMuted: Bool
    /// Whether only messages that mention the user are notified.
    package var notifiesMentionsOnly: Bool
    package var isOnline: Bool
    package var hasDraft: Bool
    /// Whether the user marked the conversation as unread.
    package var isMarked: Bool

    package init(
        id: String, title: String, preview: String = "", time: String = "", unread: Int64 = 0, mentions: Int64 = 0, isPinned: Bool = false,
        isMuted: Bool = false, notifiesMentionsOnly: Bool = false, isOnline: Bool = false, hasDraft: Bool = false, isMarked: Bool = false
    ) {
        self.id = id
        self.title = title
        self.preview = preview
        self.time = time
        self.unread = unread
        self.mentions = mentions
        self.isPinned = isPinned
        self.isMuted = isMuted
        self.notifiesMentionsOnly = notifiesMentionsOnly
        self.isOnline = isOnline
        self.hasDraft = hasDraft
        self.isMarked = isMarked
    }
}

/// A message on the screen.
package struct ScreenMessage: Hashable, Sendable, Identifiable {
    package enum Mark: Hashable, Sendable {
        case none, waiting, sent, delivered, read
        case failed(String)
    }
    /// The identity of the message. It does not change when the message is sent.
    package var id: String
    /// The `seq` of the message; nil for an unsent message.
    package var seq: Int64?
    package var sender: String
    package var day: String
    package var time: String
    /// The paragraphs of the message, such as a quote, the text and the reactions.
    package var paragraphs: [[ScreenSpan]]
    /// The source of the text in Markdown, for an edit; empty if the message is not a text of the
    /// user.
    package var source: String
    package var isOwn: Bool
    package var mark: Mark
    /// Whether the message represents a change that is shown as a line, such as "bob joined".
    package var isNotice: Bool
    /// Whether a separator line above the message marks it as the first unread one.
    package var isFirstUnread: Bool

    package init(
        id: String, seq: Int64? = nil, sender: String, day: String = "", time: String, paragraphs: [[ScreenSpan]], source: String = "",
        isOwn: Bool = false, mark: Mark = .none, isNotice: Bool = false, isFirstUnread: Bool = false
    ) {
        self.id = id
        self.seq = seq
        self.sender = sender
        self.day = day
        self.time = time
        self.paragraphs = paragraphs
        self.source = source
        self.isOwn = isOwn
        self.mark = mark
        self.isNotice = isNotice
        self.isFirstUnread = isFirstUnread
    }
}

/// Lines that are shown instead of the messages, such as the help, search results or a list of
/// members.
package struct ScreenPanel: Hashable, Sendable {
    package struct Line: Hashable, Sendable {
        package var text: String
        package var style: ScreenStyle
        /// The command that is performed when the user selects the line; nil if the line cannot be
        /// selected.
        package var command: String?
        /// The number of characters of the first column; 0 if there is one column.
        package var indent: Int

        package init(_ text: String, _ style: ScreenStyle = .normal, command: String? = nil, indent: Int = 0) {
            self.text = text
            self.style = style
            self.command = command
            self.indent = indent
        }
    }
    package var title: String
    package var lines: [Line]
    /// The index of the selected line; nil if no line can be selected.
    package var selected: Int?
    var first = 0

    package init(title: String, lines: [Line]) {
        self.title = title
        self.lines = lines
        self.selected = lines.firstIndex { $0.command != nil }
    }
}

/// An action that the shell of the screen performs after a key.
package enum ScreenAction: Hashable, Sendable {
    case open(conversation: String)
    /// Handle a submitted message or command.
    case submit(String)
    case loadEarlier
    case loadLater
    /// Show the newest messages.
    case toEnd
    case typing
    /// Close the thread, because the user pressed Escape and the screen had no other element to
    /// close.
    case leaveThread
    case suspend
    case redraw
    case quit
}

/// The chat on a full screen: the list of conversations at the left, the messages and the input at
/// the right. A narrow screen shows one of both. Pure: keys and values go in, frames come out.
package struct ChatScreen: Sendable {
    package enum Focus: Hashable, Sendable { case list, messages, input }

    package internal(set) var width: Int
    package internal(set) var height: Int
    package var conversations: [ScreenConversation] = []
    package var messages: [ScreenMessage] = []
    /// Whether there are messages before and after the shown ones that can be loaded.
    package var hasEarlier = false
    package var hasLater = false
    /// The number of unread messages of the open conversation.
    package var unread: Int64 = 0
    /// What stands beside the title: the number of members, the presence.
    package var subtitle = ""
    /// The state of the connection.
    package var connection = ""
    package var isOnline = true
    /// What the last command told.
    package var notice = ""
    package var isWarning = false
    /// What is written at present: "bob is typing".
    package var typing = ""
    /// Whether the messages are those of a thread.
    package var isThread = false
    /// What the input does besides sending: a question before a destructive command.
    package var panel: ScreenPanel?
    package internal(set) var focus: Focus = .list
    package internal(set) var selected: String?
    package internal(set) var opened: String?
    /// The id of the selected message, while the messages have the focus.
    package internal(set) var marked: String?
    package var editor = LineEditor()
    /// The row at the bottom: a row of a message; nil follows the newest message.
    var bottom: RowPlace?
    var firstConversation = 0
    var cache = RowCache()
    /// The place of the last message that the last frame showed completely, in the list.
    package internal(set) var lastVisible: Int?

    static let listWidth = 28
    /// The width below which list and messages are not shown at once.
    static let splitWidth = 70
    static let maximumInputRows = 5

    package init(width: Int, height: Int) {
        self.width = max(1, width)
        self.height = max(1, height)
    }

    var isSplit: Bool { self.width >= Self.splitWidth }
    var isListShown: Bool { self.isSplit || self.focus == .list && self.panel == nil }
    var listWidth: Int { self.isSplit ? min(40, max(Self.listWidth, self.width / 4)) : self.width }
    var threadWidth: Int { self.isSplit ? self.width - self.listWidth - 1 : self.width }

    /// The rows of the input. A low screen has one.
    var inputRows: [String] { self.input.rows }
    var input: (rows: [String], row: Int, column: Int) {
        self.editor.layout(width: self.width - 2, maximumRows: max(1, min(Self.maximumInputRows, self.height / 4)))
    }
    /// The rows above the status line.
    var mainHeight: Int { max(0, self.height - 1 - self.inputRows.count) }
    /// The rows between the title and the status line.
    var bodyHeight: Int { max(0, self.mainHeight - 1) }

    package mutating func resize(width: Int, height: Int) {
        (self.width, self.height) = (max(1, width), max(1, height))
    }

    /// Shows a conversation that the shell has opened. Its end is shown, or its first unread
    /// message at the top.
    package mutating func show(_ conversation: String) {
        self.opened = conversation
        self.selected = conversation
        self.focus = .input
        self.marked = nil
        self.bottom = nil
        self.panel = nil
    }

    package mutating func closeConversation() {
        self.opened = nil
        self.focus = .list
        self.marked = nil
    }

    /// Selects a message and shows it.
    package mutating func mark(_ id: String) {
        self.focus = .messages
        self.marked = id
        self.reveal()
    }

    /// Ends the selection and follows the newest message.
    package mutating func followEnd() {
        self.bottom = nil
        self.marked = nil
        if self.focus == .messages { self.focus = .input }
    }

    /// Ends the selection after a command for the message, unless the command selected another one.
    package mutating func unmark() {
        if self.focus != .messages { self.marked = nil }
    }

    /// The place of the selected message.
    package var markedSeq: Int64? {
        guard let marked = self.marked else { return nil }
        return self.messages.first { $0.id == marked }?.seq
    }
}

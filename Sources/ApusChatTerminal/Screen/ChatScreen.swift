/// The state of the full-screen chat: the list of conversations on the left, the messages and the
/// input on the right. A narrow screen shows either the list or the messages. This type performs no
/// input or output: it converts keys and values to frames.
package struct ChatScreen: Sendable {
    package enum Focus: Hashable, Sendable { case list, messages, input }

    package internal(set) var width: Int
    package internal(set) var height: Int
    package var conversations: [ScreenConversation] = []
    package var messages: [ScreenMessage] = []
    /// Whether messages before those in `messages` can be loaded.
    package var hasEarlier = false
    package var hasLater = false
    /// The number of unread messages of the open conversation.
    package var unread: Int64 = 0
    /// The text next to the title, such as the number of members or the presence.
    package var subtitle = ""
    /// The text that describes the state of the connection.
    package var connection = ""
    package var isOnline = true
    /// The text of the status line. If it is empty, the line shows a hint about the keys.
    package var notice = ""
    package var isWarning = false
    /// The description of the users who are writing, such as "bob is typing".
    package var typing = ""
    /// Whether `messages` belong to a thread.
    package var isThread = false
    /// The panel that is shown instead of the messages, such as the help or the output of a
    /// command; nil if none is shown.
    package var panel: ScreenPanel?
    package internal(set) var focus: Focus = .list
    package internal(set) var selected: String?
    package internal(set) var opened: String?
    /// The id of the selected message; nil if no message is selected.
    package internal(set) var marked: String?
    package var editor = LineEditor()
    /// The message row at the bottom of the screen; nil if the screen follows the newest message.
    var bottom: RowPlace?
    var firstConversation = 0
    var cache = RowCache()
    /// The index of the last message whose last row is visible in the last frame; nil if there is
    /// none.
    package internal(set) var lastVisible: Int?

    static let listWidth = 28
    /// The width below which the list and the messages are not shown at the same time.
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

    /// The rows of the input: at least one, and at most a quarter of the height of the screen.
    var inputRows: [String] { self.input.rows }
    var input: (rows: [String], row: Int, column: Int) {
        self.editor.layout(width: self.width - 2, maximumRows: max(1, min(Self.maximumInputRows, self.height / 4)))
    }
    /// The number of rows above the status line.
    var mainHeight: Int { max(0, self.height - 1 - self.inputRows.count) }
    /// The number of rows between the title and the status line.
    var bodyHeight: Int { max(0, self.mainHeight - 1) }

    package mutating func resize(width: Int, height: Int) {
        (self.width, self.height) = (max(1, width), max(1, height))
    }

    /// Shows the end of a conversation that was opened.
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

    /// Selects a message and scrolls to it.
    package mutating func mark(_ id: String) {
        self.focus = .messages
        self.marked = id
        self.reveal()
    }

    /// Clears the selection and follows the newest message.
    package mutating func followEnd() {
        self.bottom = nil
        self.marked = nil
        if self.focus == .messages { self.focus = .input }
    }

    /// Clears the selection after a command for the selected message, unless the command selected
    /// another message.
    package mutating func unmark() {
        if self.focus != .messages { self.marked = nil }
    }

    /// The `seq` of the selected message; nil if no sent message is selected.
    package var markedSeq: Int64? {
        guard let marked = self.marked else { return nil }
        return self.messages.first { $0.id == marked }?.seq
    }
}

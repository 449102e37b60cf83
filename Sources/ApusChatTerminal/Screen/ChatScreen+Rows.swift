/// Identifies a row of the screen: the message, and the number of the row counted from the end of
/// the message.
struct RowPlace: Hashable, Sendable {
    var message: String
    var fromEnd: Int
}

/// Caches the rows of messages that have not changed since the last frame.
struct RowCache: Sendable {
    struct Entry: Sendable {
        var message: ScreenMessage
        var width: Int
        var isHeaded: Bool
        var rows: [[ScreenSpan]]
    }
    private var entries: [String: Entry] = [:]

    func rows(of message: ScreenMessage, width: Int, isHeaded: Bool) -> [[ScreenSpan]]? {
        guard let known = self.entries[message.id], known.message == message, known.width == width, known.isHeaded == isHeaded else {
            return nil
        }
        return known.rows
    }

    mutating func set(_ rows: [[ScreenSpan]], of message: ScreenMessage, width: Int, isHeaded: Bool) {
        // Bounds the size of the cache.
        if self.entries.count > 2_000 { self.entries = [:] }
        self.entries[message.id] = Entry(message: message, width: width, isHeaded: isHeaded, rows: rows)
    }
}

/// The rows of the messages, and the part of them that is on the screen.
extension ChatScreen {
    struct Row {
        var spans: [ScreenSpan]
        /// The index of the message.
        var message: Int
        var fromEnd: Int
    }

    /// The width of the name column, in cells.
    private var nameWidth: Int { max(4, min(14, self.threadWidth / 5)) }

    /// Returns the rows of all messages.
    mutating func rows() -> [Row] {
        var rows: [Row] = []
        for (index, message) in self.messages.enumerated() {
            let before = index > 0 ? self.messages[index - 1] : nil
            var own: [[ScreenSpan]] = []
            if before?.day != message.day, !message.day.isEmpty { own.append(self.divider(message.day, .dim)) }
            if message.isFirstUnread { own.append(self.divider("unread messages", .notice)) }
            let isHeaded = !own.isEmpty || before.map { $0.sender != message.sender || $0.isNotice } ?? true
            let width = self.threadWidth
            if let known = self.cache.rows(of: message, width: width, isHeaded: isHeaded) {
                own += known
            } else {
                let made = self.rows(of: message, isHeaded: isHeaded)
                self.cache.set(made, of: message, width: width, isHeaded: isHeaded)
                own += made
            }
            let isMarked = message.id == self.marked
            for (place, spans) in own.enumerated() {
                var spans = spans
                if isMarked, spans.first?.text == " " { spans[0] = ScreenSpan("▌", .notice) }
                rows.append(Row(spans: spans, message: index, fromEnd: own.count - 1 - place))
            }
        }
        return rows
    }

    private func divider(_ text: String, _ style: ScreenStyle) -> [ScreenSpan] {
        let width = self.threadWidth
        let words = width > 12 ? " \(text) " : ""
        let room = max(0, width - TerminalText.width(words))
        let line = String(repeating: "─", count: min(3, room)) + words + String(repeating: "─", count: max(0, room - 3))
        return [ScreenSpan(TerminalText.fitted(line, to: width), style)]
    }

    private func rows(of message: ScreenMessage, isHeaded: Bool) -> [[ScreenSpan]] {
        let width = self.threadWidth
        if message.isNotice {
            let text = message.paragraphs.flatMap { $0.map(\.text) }.joined(separator: " ")
            return TerminalText.wrapped("\(message.time)  \(text)", to: max(2, width - 2)).map {
                ScreenSpan.filled([ScreenSpan(" "), ScreenSpan(TerminalText.fitted($0, to: max(0, width - 1)), .dim)], to: width)
            }
        }
        // A very narrow screen does not show the time.
        let time = width >= 30 ? message.time + " " : ""
        let name = TerminalText.fitted(isHeaded ? TerminalText.plain(message.sender) : "", to: self.nameWidth)
        let indent = 1 + TerminalText.width(time) + self.nameWidth + 1
        let room = max(4, width - indent - 1)
        var lines = message.paragraphs.flatMap { ScreenSpan.wrapped($0, to: room) }
        let mark = Self.mark(message.mark)
        if !mark.text.isEmpty {
            let used = (lines.last ?? []).reduce(0) { $0 + $1.width }
            if used + mark.width + 2 <= room, !lines.isEmpty {
                lines[lines.count - 1] += [ScreenSpan("  "), mark]
            } else {
                lines += ScreenSpan.wrapped([mark], to: room)
            }
        }
        let nameStyle = message.isOwn ? ScreenStyle.dim : ScreenStyle(colour: Self.colour(of: message.sender), isBold: true)
        return lines.enumerated().map { index, line in
            let head =
                index == 0
                ? [ScreenSpan(" "), ScreenSpan(time, .dim), ScreenSpan(name + " ", nameStyle)]
                : [ScreenSpan(" "), ScreenSpan(String(repeating: " ", count: indent - 1))]
            return Self.fitted(head + line, to: width)
        }
    }

    /// Pads or truncates spans to a width.
    static func fitted(_ spans: [ScreenSpan], to width: Int) -> [ScreenSpan] {
        guard spans.reduce(0, { $0 + $1.width }) > width else { return ScreenSpan.filled(spans, to: width) }
        var result: [ScreenSpan] = []
        var left = width
        for span in spans where left > 0 {
            var span = span
            if span.width > left { span.text = TerminalText.fitted(span.text, to: left) }
            left -= span.width
            result.append(span)
        }
        return ScreenSpan.filled(result, to: width)
    }

    private static func mark(_ mark: ScreenMessage.Mark) -> ScreenSpan {
        switch mark {
        case .none: ScreenSpan("")
        case .waiting: ScreenSpan("… waiting", .notice)
        case .sent: ScreenSpan("✓", .dim)
        case .delivered: ScreenSpan("✓✓", .dim)
        case .read: ScreenSpan("✓✓ read", .accent)
        case .failed(let reason): ScreenSpan("✗ not sent: \(TerminalText.plain(reason)) /retry /discard", .warning)
        }
    }

    /// Returns the colour of a name. A name has the same colour in every terminal.
    private static func colour(of name: String) -> ScreenStyle.Colour {
        let colours: [ScreenStyle.Colour] = [.cyan, .green, .magenta, .blue, .yellow]
        let sum = name.unicodeScalars.reduce(UInt32(7)) { $0 &* 31 &+ $1.value }
        return colours[Int(sum % UInt32(colours.count))]
    }

    // MARK: Scrolling

    /// Returns the index after the last row on the screen.
    private func end(of rows: [Row]) -> Int {
        guard let bottom = self.bottom, let message = self.messages.firstIndex(where: { $0.id == bottom.message }) else {
            return rows.count
        }
        let last = rows.lastIndex { $0.message == message } ?? rows.count - 1
        return max(0, last - bottom.fromEnd + 1)
    }

    private mutating func setEnd(_ end: Int, of rows: [Row]) {
        let end = max(end, min(rows.count, self.bodyHeight))
        guard end < rows.count || self.hasLater, rows.indices.contains(end - 1) else {
            self.bottom = nil
            return
        }
        let row = rows[end - 1]
        self.bottom = RowPlace(message: self.messages[row.message].id, fromEnd: row.fromEnd)
    }

    mutating func scroll(by step: Int) -> [ScreenAction] {
        let rows = self.rows()
        let end = self.end(of: rows)
        let wanted = min(end + step, rows.count)
        self.setEnd(wanted, of: rows)
        guard self.opened != nil else { return [] }
        if step < 0, wanted <= self.bodyHeight, self.hasEarlier { return [.loadEarlier] }
        return step > 0 && end + step >= rows.count && self.hasLater ? [.loadLater] : []
    }

    /// Scrolls until the selected message is visible.
    mutating func reveal() {
        let rows = self.rows()
        guard let marked = self.messages.firstIndex(where: { $0.id == self.marked }),
            let first = rows.firstIndex(where: { $0.message == marked }), let last = rows.lastIndex(where: { $0.message == marked })
        else { return }
        let end = self.end(of: rows)
        if last >= end {
            self.setEnd(last + 1, of: rows)
        } else if first < end - self.bodyHeight {
            self.setEnd(first + self.bodyHeight, of: rows)
        }
    }

    /// Shows the first unread message at the top if the messages from there on do not fit on the
    /// screen.
    package mutating func showFirstUnread() {
        let rows = self.rows()
        guard let unread = self.messages.firstIndex(where: \.isFirstUnread),
            let first = rows.firstIndex(where: { $0.message == unread })
        else { return }
        // Shows one earlier row for context.
        let end = first - 1 + self.bodyHeight
        if end < rows.count { self.setEnd(end, of: rows) }
    }

    /// Returns the rows on the screen.
    mutating func visibleRows() -> [[ScreenSpan]] {
        let rows = self.rows()
        var end = self.end(of: rows)
        // If rows were removed or the screen became larger, earlier rows fill the empty space.
        end = max(end, min(rows.count, self.bodyHeight))
        if end == rows.count, !self.hasLater, self.marked == nil { self.bottom = nil }
        let shown = rows[max(0, end - self.bodyHeight)..<end]
        self.lastVisible = shown.last { $0.fromEnd == 0 }?.message
        return shown.map(\.spans)
    }
}

/// The style of a part of a row.
package struct ScreenStyle: Hashable, Sendable {
    package enum Colour: Int, Hashable, Sendable {
        case normal = 39, red = 31, green = 32, yellow = 33, blue = 34, magenta = 35, cyan = 36
    }
    package var colour: Colour = .normal
    package var isBold = false
    package var isDim = false
    package var isItalic = false
    package var isUnderlined = false
    package var isStruck = false
    package var isReverse = false

    package static let normal = Self()
    package static let bold = Self(isBold: true)
    package static let dim = Self(isDim: true)
    package static let reverse = Self(isReverse: true)
    package static let accent = Self(colour: .cyan)
    package static let good = Self(colour: .green)
    package static let notice = Self(colour: .yellow)
    package static let warning = Self(colour: .red)

    package init(colour: Colour = .normal, isBold: Bool = false, isDim: Bool = false, isReverse: Bool = false) {
        self.colour = colour
        self.isBold = isBold
        self.isDim = isDim
        self.isReverse = isReverse
    }

    /// Returns the control sequence (ECMA-48, SGR) that sets the style.
    func code(hasColour: Bool) -> String {
        var codes = ["0"]
        if self.isBold { codes.append("1") }
        if self.isDim { codes.append("2") }
        if self.isItalic { codes.append("3") }
        if self.isUnderlined { codes.append("4") }
        if self.isReverse { codes.append("7") }
        if self.isStruck { codes.append("9") }
        if hasColour, self.colour != .normal { codes.append(String(self.colour.rawValue)) }
        return "\u{1B}[" + codes.joined(separator: ";") + "m"
    }
}

/// A part of a row with one style.
package struct ScreenSpan: Hashable, Sendable {
    package var text: String
    package var style: ScreenStyle

    package init(_ text: String, _ style: ScreenStyle = .normal) {
        self.text = text
        self.style = style
    }

    var width: Int { TerminalText.width(self.text) }

    /// Wraps a paragraph of spans into lines.
    static func wrapped(_ spans: [ScreenSpan], to width: Int) -> [[ScreenSpan]] {
        var characters: [Character] = []
        var styles: [ScreenStyle] = []
        for span in spans {
            let text = Array(TerminalText.plain(span.text))
            characters += text
            styles += Array(repeating: span.style, count: text.count)
        }
        return TerminalText.lines(of: characters, width: width).map { range in
            var line: [ScreenSpan] = []
            for index in range {
                if line.last?.style == styles[index] {
                    line[line.count - 1].text.append(characters[index])
                } else {
                    line.append(ScreenSpan(String(characters[index]), styles[index]))
                }
            }
            return line
        }
    }

    /// Pads a row with spaces to a width. Returns a wider row unchanged.
    static func filled(_ spans: [ScreenSpan], to width: Int) -> [ScreenSpan] {
        let used = spans.reduce(0) { $0 + $1.width }
        return used < width ? spans + [ScreenSpan(String(repeating: " ", count: width - used))] : spans
    }
}

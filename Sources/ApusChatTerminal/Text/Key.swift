/// A key of a terminal.
package enum Key: Hashable, Sendable {
    case character(Character)
    /// Pasted text, including its line ends.
    case paste(String)
    /// Ctrl with a letter.
    case control(Character)
    /// Alt with a letter.
    case alt(Character)
    case enter, tab, backTab, escape, backspace, delete
    /// A line break in the text: Alt+Enter or Ctrl+J.
    case newline
    case up, down, left, right, home, end, pageUp, pageDown
    /// Ctrl or Alt with an arrow key.
    case wordLeft, wordRight, markUp, markDown
    /// A function key, counted from 1.
    case function(Int)
}

/// Decodes the keys of a terminal from its bytes, which can be split at any position.
package struct KeyReader: Sendable {
    private var pending: [UInt8] = []
    private var pasted: [UInt8]?
    /// The maximum length of an escape sequence in bytes. A longer sequence is discarded.
    private static let maximumSequence = 32
    /// The maximum size of a paste, in bytes. Further text is discarded.
    private static let maximumPaste = 64 * 1_024
    private static let pasteEnd: [UInt8] = Array("\u{1B}[201~".utf8)

    package init() {}

    /// Returns the keys that the bytes complete. Stores the bytes of an incomplete key.
    package mutating func read(_ bytes: some Sequence<UInt8>) -> [Key] {
        self.pending += bytes
        var keys: [Key] = []
        while !self.pending.isEmpty {
            if self.pasted != nil {
                guard let key = self.readPaste() else { break }
                keys.append(key)
                continue
            }
            guard let (key, count) = self.next() else { break }
            self.pending.removeFirst(count)
            if let key { keys.append(key) }
        }
        return keys
    }

    /// Handles a pause after the last byte: a single escape byte is the Escape key.
    package mutating func flush() -> [Key] {
        guard self.pasted == nil, self.pending == [0x1B] else { return [] }
        self.pending = []
        return [.escape]
    }

    private mutating func readPaste() -> Key? {
        guard let end = self.pending.firstRange(of: Self.pasteEnd) else {
            // Discards further text, except the last bytes, because they can contain a part of the
            // end mark.
            if self.pending.count > Self.maximumPaste { self.pending.removeSubrange(Self.maximumPaste - 8..<self.pending.count - 8) }
            return nil
        }
        let text = String(decoding: self.pending[..<end.lowerBound], as: UTF8.self)
        self.pending.removeFirst(end.upperBound)
        self.pasted = nil
        return .paste(text.replacing("\r\n", with: "\n").replacing("\r", with: "\n"))
    }

    /// Returns the next key with its number of bytes; nil if the key is incomplete. The returned
    /// key is nil if the bytes do not represent a key.
    private mutating func next() -> (Key?, Int)? {
        guard let first = self.pending.first else { return nil }
        switch first {
        case 0x0D: return (.enter, 1)
        case 0x0A: return (.newline, 1)
        case 0x09: return (.tab, 1)
        case 0x7F, 0x08: return (.backspace, 1)
        case 0x1B: return self.nextSequence()
        case 0x01...0x1A: return (.control(Character(Unicode.Scalar(first + 0x60))), 1)
        case 0x00..<0x20: return (nil, 1)
        default: return self.nextCharacter()
        }
    }

    /// Decodes a character. An invalid byte becomes U+FFFD.
    private func nextCharacter() -> (Key?, Int)? {
        guard let first = self.pending.first else { return nil }
        // The byte cannot begin a character.
        if (0x80..<0xC2).contains(first) || first > 0xF4 { return (.character("\u{FFFD}"), 1) }
        let length = first < 0x80 ? 1 : first < 0xE0 ? 2 : first < 0xF0 ? 3 : 4
        let bytes = self.pending.prefix(length)
        if let end = bytes.dropFirst().firstIndex(where: { $0 & 0xC0 != 0x80 }) { return (.character("\u{FFFD}"), end) }
        guard bytes.count == length else { return nil }
        let text = String(decoding: bytes, as: UTF8.self)
        return (.character(text.unicodeScalars.count == 1 ? text.first ?? "\u{FFFD}" : "\u{FFFD}"), length)
    }

    private mutating func nextSequence() -> (Key?, Int)? {
        guard self.pending.count > 1 else { return nil }
        switch self.pending[1] {
        case UInt8(ascii: "["), UInt8(ascii: "O"): break
        case 0x1B: return (.escape, 1)
        case 0x7F: return (.control("w"), 2)
        case 0x0D, 0x0A: return (.newline, 2)
        case UInt8(ascii: "b"), UInt8(ascii: "d"), UInt8(ascii: "f"): return (.alt(Character(Unicode.Scalar(self.pending[1]))), 2)
        default: return (.escape, 1)
        }
        guard let final = self.pending.dropFirst(2).firstIndex(where: { !(0x20...0x3F).contains($0) }) else {
            return self.pending.count > Self.maximumSequence ? (nil, self.pending.count) : nil
        }
        // Any other byte ends the sequence, which then represents no key.
        guard (0x40...0x7E).contains(self.pending[final]) else { return (nil, final) }
        // The Linux console sends F1 to F5 as `ESC [ [ A` to `ESC [ [ E`.
        if self.pending[1] == UInt8(ascii: "["), final == 2, self.pending[2] == UInt8(ascii: "[") {
            guard self.pending.count > 3 else { return nil }
            let number = Int(self.pending[3]) - 0x40
            return ((1...5).contains(number) ? .function(number) : nil, 4)
        }
        let parameters = String(decoding: self.pending[2..<final], as: UTF8.self)
        if self.pending[final] == UInt8(ascii: "~"), parameters == "200" { self.pasted = [] }
        return (Self.key(final: self.pending[final], parameters: parameters), final + 1)
    }

    private static func key(final: UInt8, parameters: String) -> Key? {
        let isModified = parameters.hasSuffix(";5") || parameters.hasSuffix(";3")
        switch final {
        case UInt8(ascii: "A"): return isModified ? .markUp : .up
        case UInt8(ascii: "B"): return isModified ? .markDown : .down
        // With other parameters, the sequence is a report of the terminal, such as the cursor
        // position.
        case UInt8(ascii: "P")...UInt8(ascii: "S") where parameters.isEmpty || parameters.hasPrefix("1;"):
            return .function(Int(final) - 0x4F)
        case UInt8(ascii: "C"): return isModified ? .wordRight : .right
        case UInt8(ascii: "D"): return isModified ? .wordLeft : .left
        case UInt8(ascii: "H"): return .home
        case UInt8(ascii: "F"): return .end
        case UInt8(ascii: "Z"): return .backTab
        case UInt8(ascii: "~"):
            switch parameters {
            case "1", "7": return .home
            case "4", "8": return .end
            case "3": return .delete
            case "5": return .pageUp
            case "6": return .pageDown
            case "11", "12", "13", "14", "15": return Int(parameters).map { .function($0 - 10) }
            default: return nil
            }
        default: return nil
        }
    }
}

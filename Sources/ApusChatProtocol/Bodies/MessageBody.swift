/// The body of one kind of message: its validation, preview, search text and references.
///
/// Each kind has a file with a conforming struct, and a case of ``ChatBody``.
package protocol MessageBody: WireObject, Hashable {
    /// The kind of messages with this body.
    static var kind: EventKind { get }
    /// The text or caption, with its entities; nil if the body has neither.
    var words: (text: String, entities: [TextEntity])? { get }
    /// The text that a list shows if the body has no text, such as the name of a file or the
    /// question of a poll.
    var label: String? { get }
    /// The text for the search index.
    var searchText: String? { get }
    /// The blobs to which the body refers. Members who can read the message can read the blobs.
    var blobs: [BlobID] { get }
    /// Checks the rules that the types of the fields do not express.
    func validate() throws(WireError)
    /// Removes the fields that the server alone may set.
    mutating func removeServerFields()
}

extension MessageBody {
    package var words: (text: String, entities: [TextEntity])? { nil }
    package var label: String? { nil }
    package var searchText: String? {
        let texts = [self.words?.text, self.label].compactMap { $0 }
        return texts.isEmpty ? nil : texts.joined(separator: "\n")
    }
    package var blobs: [BlobID] { [] }
    package func validate() throws(WireError) {}
    package mutating func removeServerFields() {}

    /// The text of a preview in a list: the text or, if it is absent or blank, the label.
    package var previewText: String? { PreviewText.line(self.words?.text) ?? PreviewText.line(self.label) }
    /// The users mentioned in the text, each once.
    package var mentions: [UserName] {
        var names: [UserName] = []
        for entity in self.words?.entities ?? [] {
            if entity.kind == .mention, let user = entity.user, !names.contains(user) { names.append(user) }
        }
        return names
    }
    /// Whether the text mentions all members.
    package var mentionsAll: Bool { self.words?.entities.contains { $0.kind == .all } ?? false }
}

/// Shortens texts for a list.
package enum PreviewText {
    /// Returns the beginning of a text as one line.
    package static func shortened(_ text: String) -> String {
        if self.isShortLine(text) { return text }
        var short = String.UnicodeScalarView()
        var count = 0
        var endsInSpace = true
        for scalar in text.unicodeScalars {
            let isSpace = scalar.isASCII ? scalar == " " || (0x09...0x0D).contains(scalar.value) : scalar.properties.isWhitespace
            if isSpace && endsInSpace { continue }
            // The last place is reserved for the ellipsis. Trailing white space needs no ellipsis.
            if count == ChatLimits.previewLength - 1 {
                if isSpace { continue }
                short.append("…")
                return String(short)
            }
            short.append(isSpace ? " " : scalar)
            endsInSpace = isSpace
            count += 1
        }
        if endsInSpace, !short.isEmpty { short.removeLast() }
        return String(short)
    }
}

extension PreviewText {
    /// Returns the beginning of a text as one line; nil if the text is absent or blank.
    package static func line(_ text: String?) -> String? {
        guard let line = text.map(Self.shortened), !line.isEmpty else { return nil }
        return line
    }

    /// Returns whether a text is short ASCII without line breaks and needs no change, which is the
    /// common case.
    private static func isShortLine(_ text: String) -> Bool {
        guard text.utf8.count < ChatLimits.previewLength else { return false }
        var last = UInt8(ascii: " ")
        for byte in text.utf8 {
            guard (0x20...0x7E).contains(byte), byte != UInt8(ascii: " ") || last != UInt8(ascii: " ") else { return false }
            last = byte
        }
        return last != UInt8(ascii: " ")
    }
}

/// Validates the media types and the names of files.
enum MediaRule {
    /// Throws unless a text is a media type in lower case, without parameters.
    ///
    /// - Parameter prefix: The required beginning of the type, such as `image/`.
    static func validate(type: String, of prefix: String = "") throws(WireError) {
        let parts = type.utf8.split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false)
        guard parts.count == 2, parts.allSatisfy({ !$0.isEmpty && $0.allSatisfy(Self.isTokenCharacter) }), type.hasPrefix(prefix) else {
            throw WireError(
                .invalid, field: "type",
                rule: "must be a media type in lower case" + (prefix.isEmpty ? "" : " that begins with `\(prefix)`"))
        }
    }

    /// Throws unless a text is the name of a file without a path, so that a client can store the
    /// file under this name in a folder. Nil is valid.
    static func validate(name: String?) throws(WireError) {
        guard let name else { return }
        let isPath = name == "." || name == ".."
        guard !isPath, !name.unicodeScalars.contains(where: { $0 == "/" || $0 == "\\" || $0.properties.generalCategory == .control }) else {
            throw WireError(.invalid, field: "name", rule: "must be a name without a path and without control characters")
        }
    }

    private static func isTokenCharacter(_ byte: UInt8) -> Bool {
        switch byte {
        case 0x61...0x7A, 0x30...0x39, UInt8(ascii: "+"), UInt8(ascii: "-"), UInt8(ascii: "."): true
        default: false
        }
    }
}

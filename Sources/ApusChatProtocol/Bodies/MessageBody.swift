/// The body of one kind of message: how it is validated, shown in a list, searched and counted.
///
/// A kind is one file with a conforming struct and one case of ``ChatBody``.
package protocol MessageBody: WireObject, Hashable {
    /// The kind of messages with this body.
    static var kind: EventKind { get }
    /// Whether clients can send the kind with `send`.
    static var isSendable: Bool { get }
    /// The text or caption with its format.
    var words: (text: String, entities: [TextEntity])? { get }
    /// What a list shows of a body without a text: the name of a file, the question of a poll.
    var label: String? { get }
    /// What the search index contains.
    var searchText: String? { get }
    /// The uploads that the body refers to, which its readers may read.
    var blobs: [BlobID] { get }
    /// Checks what the types of the fields do not tell.
    func validate() throws(WireError)
    /// Removes the fields that the server alone may set.
    mutating func removeServerFields()
}

extension MessageBody {
    package static var isSendable: Bool { true }
    package var words: (text: String, entities: [TextEntity])? { nil }
    package var label: String? { nil }
    package var searchText: String? {
        let texts = [self.words?.text, self.label].compactMap { $0 }
        return texts.isEmpty ? nil : texts.joined(separator: "\n")
    }
    package var blobs: [BlobID] { [] }
    package func validate() throws(WireError) {}
    package mutating func removeServerFields() {}

    /// The text of a preview.
    package var previewText: String? { (self.words?.text ?? self.label).map(PreviewText.shortened) }
    /// The users that the text mentions, each once.
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

/// The shortened form of a text in a list.
package enum PreviewText {
    /// Returns the start of a text on one line.
    package static func shortened(_ text: String) -> String {
        if self.isShortLine(text) { return text }
        var short = String.UnicodeScalarView()
        var count = 0
        var endsInSpace = true
        for scalar in text.unicodeScalars {
            let isSpace = scalar.isASCII ? scalar == " " || (0x09...0x0D).contains(scalar.value) : scalar.properties.isWhitespace
            if isSpace && endsInSpace { continue }
            // One place remains for the ellipsis.
            if count == ChatLimits.previewLength - 1 {
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
    /// Whether a text of ASCII needs no change, which is the common case of short messages.
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

/// The syntax of media types.
enum MediaRule {
    /// - Parameter prefix: What the type must begin with.
    static func validate(type: String, of prefix: String = "") throws(WireError) {
        let parts = type.utf8.split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false)
        guard parts.count == 2, parts.allSatisfy({ !$0.isEmpty && $0.allSatisfy(Self.isTokenCharacter) }), type.hasPrefix(prefix) else {
            throw WireError(.invalid, field: "type", rule: "must be a media type" + (prefix.isEmpty ? "" : " of `\(prefix)`"))
        }
    }

    private static func isTokenCharacter(_ byte: UInt8) -> Bool {
        switch byte {
        case 0x61...0x7A, 0x30...0x39, UInt8(ascii: "+"), UInt8(ascii: "-"), UInt8(ascii: "."): true
        default: false
        }
    }
}

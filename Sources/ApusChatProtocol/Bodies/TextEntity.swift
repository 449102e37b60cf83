/// The format or meaning of a range of a text.
public enum TextEntityKind: String, WireChoice {
    /// Bold text.
    case bold
    /// Italic text.
    case italic
    /// Underlined text.
    case underline
    /// Text that is struck through.
    case strike
    /// Text that is hidden until the reader reveals it.
    case spoiler
    /// Code within a line.
    case code
    /// A block of code, whose language can be named.
    case pre
    /// A quotation.
    case quote
    /// An item of a list.
    case list
    /// A link to an address.
    case link
    /// A mention of a user, who is notified.
    case mention
    /// `@all`, a mention of all members, who are notified.
    case all
    /// A word that can be searched for.
    case hashtag
    /// A kind that a later version defines. Show the range as plain text.
    case unknown
}

/// A range of a text with a format or a meaning. Offsets and lengths are in Unicode scalars.
public struct TextEntity: Hashable, Sendable {
    /// The format or meaning.
    public var kind: TextEntityKind
    /// The number of scalars before the range.
    public var offset: Int64
    /// The number of scalars in the range.
    public var length: Int64
    /// The address of a link; nil for other kinds.
    public var url: String?
    /// The user of a mention; nil for other kinds.
    public var user: UserName?
    /// The language of a block of code; nil for other kinds, or if it is not given.
    public var language: String?

    /// Creates an entity.
    ///
    /// - Parameters:
    ///   - kind: The format or meaning.
    ///   - offset: The number of scalars before the range.
    ///   - length: The number of scalars in the range.
    ///   - url: The address of a link; nil for other kinds.
    ///   - user: The user of a mention; nil for other kinds.
    ///   - language: The language of a block of code; nil for other kinds, or if it is not given.
    public init(
        kind: TextEntityKind, offset: Int64, length: Int64, url: String? = nil, user: UserName? = nil, language: String? = nil
    ) {
        self.kind = kind
        self.offset = offset
        self.length = length
        self.url = url
        self.user = user
        self.language = language
    }
}

extension TextEntity: WireObject {
    package init(from reader: WireReader) throws(WireError) {
        self.kind = try reader.choice("type")
        self.offset = try reader.integer("offset", in: 0...Int64(ChatLimits.textLength))
        self.length = try reader.integer("length", in: 1...Int64(ChatLimits.textLength))
        self.url = try reader.stringIfPresent("url", minimum: 1, maximum: 2_000)
        self.user = try reader.textIfPresent("user")
        self.language = try reader.stringIfPresent("language", minimum: 1, maximum: 30)
    }

    package func write(to writer: inout WireWriter) {
        writer.write("type", self.kind)
        writer.write("offset", self.offset)
        writer.write("length", self.length)
        writer.write("url", ifPresent: self.url)
        writer.write("user", ifPresent: self.user)
        writer.write("language", ifPresent: self.language)
    }
}

/// Validates the entities of a text.
package enum EntityRule {
    /// The schemes of the links that clients open.
    package static let schemes = ["http", "https", "mailto", "tel", "xmpp"]

    /// Checks the ranges and the values of the entities of a text.
    package static func validate(_ entities: [TextEntity], of text: String?) throws(WireError) {
        guard !entities.isEmpty else { return }
        let count = Int64((text ?? "").unicodeScalars.count)
        var open: [Int64] = []
        var last: Int64 = 0
        var mentions = 0
        for (index, entity) in entities.enumerated() {
            do throws(WireError) {
                let end = try self.end(of: entity, count: count)
                guard entity.offset >= last else {
                    throw WireError(.invalid, field: "offset", rule: "must not be less than the offset of the previous entity")
                }
                last = entity.offset
                while let outer = open.last, outer <= entity.offset { open.removeLast() }
                guard end <= open.last ?? end else {
                    throw WireError(
                        .invalid, field: "length", rule: "must not make the range end outside of a range that contains its start")
                }
                open.append(end)
                try self.validateValues(of: entity)
                if entity.kind == .mention { mentions += 1 }
            } catch {
                throw error.under(index: index).under("entities")
            }
        }
        guard mentions <= ChatLimits.mentions else {
            throw WireError(.tooLarge, field: "entities", rule: "must have at most \(ChatLimits.mentions) mentions")
        }
    }

    private static func end(of entity: TextEntity, count: Int64) throws(WireError) -> Int64 {
        let (end, overflow) = entity.offset.addingReportingOverflow(entity.length)
        guard entity.offset >= 0, entity.length > 0, !overflow, end <= count else {
            throw WireError(.invalid, field: "length", rule: "must not make the range end after the text of \(count) Unicode scalars")
        }
        return end
    }

    private static func validateValues(of entity: TextEntity) throws(WireError) {
        switch entity.kind {
        case .unknown: throw WireError(.unsupported, field: "type", rule: "must be a type that this version supports")
        case .link:
            guard let url = entity.url else { throw WireError(.missing, field: "url", rule: "is required for a link") }
            guard self.isSafe(url) else {
                throw WireError(
                    .invalid, field: "url", rule: "must be an absolute URL with one of the schemes \(self.schemes.joined(separator: ", "))")
            }
        case .mention:
            guard entity.user != nil else { throw WireError(.missing, field: "user", rule: "is required for a mention") }
        default: break
        }
        guard entity.url == nil || entity.kind == .link else {
            throw WireError(.invalid, field: "url", rule: "must be absent unless the type is `link`")
        }
        guard entity.user == nil || entity.kind == .mention else {
            throw WireError(.invalid, field: "user", rule: "must be absent unless the type is `mention`")
        }
        guard entity.language == nil || entity.kind == .pre else {
            throw WireError(.invalid, field: "language", rule: "must be absent unless the type is `pre`")
        }
    }

    /// Returns whether a client can open an address: its scheme is one of ``schemes``, and it
    /// contains no characters that URLs cannot contain.
    package static func isSafe(_ url: String) -> Bool {
        guard let colon = url.utf8.firstIndex(of: UInt8(ascii: ":")) else { return false }
        guard self.schemes.contains(url[..<colon].lowercased()), url.utf8.count > url.utf8.distance(from: url.startIndex, to: colon) + 1
        else {
            return false
        }
        return url.unicodeScalars.allSatisfy {
            $0.value > 0x20 && $0.value != 0x7F && !$0.properties.isWhitespace && $0.properties.generalCategory != .control
                && !$0.properties.isDefaultIgnorableCodePoint && !["\"", "<", ">", "\\", "`"].contains($0)
        }
    }
}

public import ApusChatProtocol

/// A part of a text with one set of formats, for a view that shows it as `Text`, as an attributed
/// string or as HTML.
public struct ChatTextSpan: Sendable, Hashable {
    /// The text of the span.
    public var text: String
    /// The formats of the span. Formats that this version does not support are omitted.
    public var kinds: Set<TextEntityKind>
    /// The target of a link; nil for other spans. A view must check its scheme before it opens the
    /// link.
    public var url: String?
    /// The user of a mention; nil for other spans.
    public var user: UserName?
    /// The language of a block of code; nil for other spans, or if it is not given.
    public var language: String?

    /// Splits a text into spans at the boundaries of its entities. Ranges that exceed the text are
    /// cut.
    ///
    /// - Parameters:
    ///   - text: The text.
    ///   - entities: The entities of the text.
    /// - Returns: The spans in order. The concatenation of their texts is the whole text.
    public static func spans(of text: String, entities: [TextEntity]) -> [ChatTextSpan] {
        let scalars = Array(text.unicodeScalars)
        guard !scalars.isEmpty else { return [] }
        let ranges = entities.compactMap { entity -> (range: Range<Int>, entity: TextEntity)? in
            guard entity.kind != .unknown, entity.offset >= 0, entity.length > 0, entity.offset < scalars.count else { return nil }
            let start = Int(entity.offset)
            return (start..<start + min(Int(clamping: entity.length), scalars.count - start), entity)
        }
        let cuts = Set(ranges.flatMap { [$0.range.lowerBound, $0.range.upperBound] } + [0, scalars.count]).sorted()
        return zip(cuts, cuts.dropFirst()).map { start, end in
            var span = ChatTextSpan(text: String(String.UnicodeScalarView(scalars[start..<end])), kinds: [])
            for (range, entity) in ranges where range.contains(start) {
                span.kinds.insert(entity.kind)
                span.url = entity.url ?? span.url
                span.user = entity.user ?? span.user
                span.language = entity.language ?? span.language
            }
            return span
        }
    }
}

extension ChatMessage {
    /// The spans of the text or caption of the message. The formats of a caption are not included.
    public var spans: [ChatTextSpan] {
        switch self.body {
        case .text(let body): ChatTextSpan.spans(of: body.text, entities: body.entities)
        default: self.text.map { ChatTextSpan.spans(of: $0, entities: []) } ?? []
        }
    }
}

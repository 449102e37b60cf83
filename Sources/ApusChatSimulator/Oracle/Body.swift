import ApusChatProtocol

/// Builds and reads the message bodies of a run as JSON text. The texts contain no characters that
/// JSON escapes.
enum Body {
    static func json(_ text: String) -> String { "{\"text\":\"\(text)\"}" }

    /// Returns the body of a message with a preview of its link.
    static func adding(title: String, to json: String) -> String { "\(json.dropLast()),\"preview\":\(Self.preview(title))}" }

    /// Returns the body of a forwarded message.
    ///
    /// - Parameter origin: The name of the sender of the original message; nil if the body already
    ///   contains the origin of an earlier forward.
    static func forwarded(_ json: String, from origin: String?) -> String {
        guard let origin else { return json }
        let title = Self.title(json)
        let tail = title.isEmpty ? "}" : ",\"preview\":\(Self.preview(title))}"
        return "\(json.dropLast(tail.count)),\"forwarded\":{\"sender\":\"\(origin)\",\"at\":0}\(tail)"
    }

    /// Returns the body of an event that adds a preview.
    static func change(title: String) -> String { "{\"preview\":\(Self.preview(title))}" }

    static func poll(_ question: String, options: Int) -> String {
        "{\"question\":\"\(question)\",\"options\":[\((0..<options).map { "\"option \($0)\"" }.joined(separator: ","))]}"
    }

    private static func preview(_ title: String) -> String { "{\"url\":\"https://apus.test\",\"title\":\"\(title)\"}" }

    static func text(_ json: String) -> String { Self.field("{\"text\":\"", of: json) ?? Self.field("{\"question\":\"", of: json) ?? "" }

    /// Returns the title of the preview in a body; empty if the body has no preview.
    static func title(_ json: String) -> String {
        // The preview is the last member of the body, and the title the last member of the preview.
        guard json.utf8.hasSuffix("\"}}"), let quote = json.utf8.dropLast(3).lastIndex(of: UInt8(ascii: "\"")) else { return "" }
        return String(json.utf8[json.utf8.index(after: quote)...].dropLast(3)) ?? ""
    }

    static func isForwarded(_ json: String) -> Bool { json.contains("\"forwarded\":") }

    static func hasLink(_ text: String) -> Bool { text.utf8.starts(with: "link".utf8) }

    /// Returns the text between a prefix and the next quotation mark; nil if the prefix is missing.
    private static func field(_ prefix: String, of json: String) -> String? {
        guard json.utf8.starts(with: prefix.utf8) else { return nil }
        return String(json.utf8.dropFirst(prefix.utf8.count).prefix { $0 != UInt8(ascii: "\"") })
    }
}

extension String.UTF8View {
    fileprivate func hasSuffix(_ suffix: String) -> Bool { self.suffix(suffix.utf8.count).elementsEqual(suffix.utf8) }
}

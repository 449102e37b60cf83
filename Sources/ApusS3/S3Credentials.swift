/// The key with which requests are signed.
package struct S3Credentials: Hashable, Sendable {
    package var id: String
    package var secret: String
    /// The token of temporary credentials.
    package var token: String?

    package init(id: String, secret: String, token: String? = nil) {
        self.id = id
        self.secret = secret
        self.token = token
    }

    /// Reads `AWS_ACCESS_KEY_ID`, `AWS_SECRET_ACCESS_KEY` and `AWS_SESSION_TOKEN`. Returns `nil` if
    /// one of the first two is missing.
    package init?(environment: [String: String]) {
        guard let id = environment["AWS_ACCESS_KEY_ID"], let secret = environment["AWS_SECRET_ACCESS_KEY"], !id.isEmpty, !secret.isEmpty
        else { return nil }
        self.init(id: id, secret: secret, token: environment["AWS_SESSION_TOKEN"].flatMap { $0.isEmpty ? nil : $0 })
    }

    /// Reads the section `[default]`, or else the lines before the first section, of a file in the
    /// format of `~/.aws/credentials`. Returns `nil` if a key is missing, or if a line is neither a
    /// setting, a section nor a comment.
    package init?(file text: String) {
        var sections = ["": [String: String]()]
        var section = ""
        for line in text.split(whereSeparator: \.isNewline) {
            let line = Self.trimmed(line)
            if line.isEmpty || line.hasPrefix("#") || line.hasPrefix(";") { continue }
            if line.hasPrefix("["), line.hasSuffix("]") {
                section = Self.trimmed(line.dropFirst().dropLast())
                continue
            }
            let parts = line.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            guard parts.count == 2 else { return nil }
            sections[section, default: [:]][Self.trimmed(parts[0]).lowercased()] = Self.trimmed(parts[1])
        }
        guard let values = sections["default"] ?? sections[""], let id = values["aws_access_key_id"],
            let secret = values["aws_secret_access_key"], !id.isEmpty, !secret.isEmpty
        else { return nil }
        self.init(id: id, secret: secret, token: values["aws_session_token"].flatMap { $0.isEmpty ? nil : $0 })
    }

    private static func trimmed(_ text: some StringProtocol) -> String {
        var text = Substring(text)
        while text.first?.isWhitespace ?? false { text.removeFirst() }
        while text.last?.isWhitespace ?? false { text.removeLast() }
        return String(text)
    }
}

extension S3Credentials: CustomStringConvertible {
    /// The id without the secret, so that a log does not contain the secret.
    package var description: String { self.id }
}

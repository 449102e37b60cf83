/// Describes the causes of errors in messages to users.
package enum CauseText {
    /// Returns the description of an error. Returns only the reasons of a BoringSSL error.
    ///
    /// BoringSSL describes each error as `error:1000007d:SSL routines:OPENSSL_internal:REASON`,
    /// followed by the path and the line of its own source file.
    package static func text(of error: any Error) -> String {
        let text = "\(error)"
        var reasons: [Substring] = []
        for match in text.matches(of: /error:[0-9a-f]{8}:[^:]*:[^:]*:([A-Za-z0-9_() ]+?)(?: at |[,\]]|$)/)
        where !reasons.contains(match.1) {
            reasons.append(match.1)
        }
        return reasons.isEmpty ? text : reasons.joined(separator: ", ")
    }
}

/// The underlying error of an error struct.
///
/// Two errors are equal regardless of their causes, so that the error structs can use synthesized
/// equality.
package struct ErrorCause: Hashable, Sendable {
    package var error: (any Error)?

    package init(_ error: (any Error)?) { self.error = error }

    package static func == (left: Self, right: Self) -> Bool { true }

    package func hash(into hasher: inout Hasher) {}

    /// Returns the code, the message and the cause on one line.
    ///
    /// - Parameter text: A function that returns the description of the cause.
    package func description(
        of code: some CustomStringConvertible, _ message: String, text: (any Error) -> String = CauseText.text
    ) -> String {
        let cause = self.error.map { " (\(text($0)))" } ?? ""
        return "\(code): \(message)\(cause)"
    }
}

/// An error in a decoded value: the field, and the rule that the field violates.
package struct WireError: Error, Hashable, Sendable {
    /// The kind of a problem.
    package enum Problem: Hashable, Sendable {
        /// A required field is absent or null.
        case missing
        /// The field has another type, or a value outside of its range.
        case invalid
        /// The value is well formed, but exceeds a limit.
        case tooLarge
        /// The value is well formed, but this version does not support it.
        case unsupported
    }

    /// The path of the field, such as `body.entities[2].offset`; empty for the value itself.
    package var field: String
    /// The kind of the problem.
    package var problem: Problem
    /// The rule, as the rest of a sentence about the field: "must be a string".
    package var rule: String

    package init(_ problem: Problem, field: String, rule: String) {
        self.field = field
        self.problem = problem
        self.rule = rule
    }

    /// Returns the error for an object that contains the value in the field `name`: prepends the
    /// name to the path.
    package func under(_ name: String) -> WireError {
        var error = self
        error.field = self.field.isEmpty ? name : self.field.hasPrefix("[") ? name + self.field : name + "." + self.field
        return error
    }

    /// Returns the error for an array that contains the value at `index`: prepends the index to the
    /// path.
    package func under(index: Int) -> WireError { self.under("[\(index)]") }

    /// The field and the rule as a sentence, for the error message of an answer.
    package var message: String { self.field.isEmpty ? "The value " + self.rule : "`\(self.field)` " + self.rule }
}

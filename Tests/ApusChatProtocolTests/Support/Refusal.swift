import ApusChatProtocol
import ApusJSON
import Testing

/// A wrong value of one field of a valid object, and the error with which the object is refused.
struct Refusal: Sendable, CustomTestStringConvertible {
    var field: String
    /// The wrong value; nil for an absent field.
    var value: JSONValue?
    var error: WireError

    var testDescription: String { self.error.message }

    static func missing(_ field: String) -> Self {
        Self(field: field, value: nil, error: WireError(.missing, field: field, rule: "is required"))
    }

    /// - Parameter path: The path that the error names, if it is not the field.
    static func invalid(_ field: String, _ value: JSONValue, at path: String? = nil, _ rule: String) -> Self {
        Self(field: field, value: value, error: WireError(.invalid, field: path ?? field, rule: rule))
    }

    static func tooLarge(_ field: String, _ value: JSONValue, at path: String? = nil, _ rule: String) -> Self {
        Self(field: field, value: value, error: WireError(.tooLarge, field: path ?? field, rule: rule))
    }

    static func unsupported(_ field: String, _ value: JSONValue, at path: String? = nil, _ rule: String) -> Self {
        Self(field: field, value: value, error: WireError(.unsupported, field: path ?? field, rule: rule))
    }

    static func missing(_ field: String, _ value: JSONValue, at path: String) -> Self {
        Self(field: field, value: value, error: WireError(.missing, field: path, rule: "is required"))
    }

    /// Checks that a type reads an object, and refuses the object with the wrong value.
    func check<Value: WireObject>(
        _ type: Value.Type, _ object: JSONObject, sourceLocation: SourceLocation = #_sourceLocation
    ) {
        #expect(Wire.refusal(type, object) == nil, sourceLocation: sourceLocation)
        var changed = object
        changed[self.field] = self.value
        #expect(Wire.refusal(type, changed) == self.error, sourceLocation: sourceLocation)
    }

    /// Checks that a new message can have a body, and cannot have the body with the wrong value.
    func check(_ kind: EventKind, body: JSONObject, sourceLocation: SourceLocation = #_sourceLocation) {
        #expect(Wire.refusal(kind, body: body) == nil, sourceLocation: sourceLocation)
        var changed = body
        changed[self.field] = self.value
        #expect(Wire.refusal(kind, body: changed) == self.error.under("body"), sourceLocation: sourceLocation)
    }
}

/// The rules that errors state, as a developer reads them.
enum Rule {
    static let conversation = "must be the id of a conversation, 13 characters of base 32"
    static let device = "must be the id of a device, 13 characters of base 32"
    static let client = "must have 1 to 64 visible ASCII characters"
    static let blob = "must be 64 lowercase hexadecimal digits, as returned by the upload"
    static let picture = "must be empty or 64 lowercase hexadecimal digits"
    static let token = "must be a token of an earlier answer, 1 to 256 visible ASCII characters"
    static let link = "must be the code of an invite link, 16 to 64 characters of base64url"
    static let user = "must be an account name: 1 to 32 letters, digits, `.`, `_` and `-`"
    static let kind = "must be the name of a kind, 1 to 64 characters"
    static let object = "must be an object"
    static let array = "must be an array"
    static let string = "must be a string"
    static let bool = "must be true or false"
    static let filled = "must not be empty"
    static let shown = "must contain a visible character, and no control, invisible or unassigned characters"
    static let later = "has a value that this version does not support"
    static let count = "must be an integer from 0 to 9007199254740991"
    static let seq = "must be an integer from 1 to 9007199254740991"

    static func integer(_ least: Int64, _ most: Int64) -> String { "must be an integer from \(least) to \(most)" }
    static func scalars(_ maximum: Int) -> String { "must have at most \(maximum) Unicode scalars" }
    static func elements(_ maximum: Int) -> String { "must have at most \(maximum) elements" }
    static func oneOf(_ names: String...) -> String { "must be one of " + names.map { "`\($0)`" }.joined(separator: ", ") }
}

extension Wire {
    /// Returns the error with which a type refuses an object; nil if the type reads it.
    static func refusal<Value: WireObject>(_ type: Value.Type, _ object: JSONObject) -> WireError? {
        do throws(WireError) {
            _ = try Value(json: .object(object))
            return nil
        } catch { return error }
    }

    /// Returns the error with which the body of a new message is refused; nil if it is accepted.
    static func refusal(_ kind: EventKind, body: JSONObject) -> WireError? {
        do throws(WireError) {
            _ = try ChatKinds.accept(kind: kind, body: body)
            return nil
        } catch { return error }
    }

    /// Returns the value of a field after an object with it was read and written; nil if the field
    /// is omitted.
    static func rewritten<Value: WireObject>(
        _ type: Value.Type, _ object: JSONObject, _ field: String, _ value: JSONValue
    ) throws -> JSONValue? {
        var changed = object
        changed[field] = value
        return try Value(json: .object(changed)).json[field]
    }

    /// A text of a number of scalars, of which each has three bytes.
    static func text(_ count: Int) -> JSONValue { .string(String(repeating: "鸟", count: count)) }

    /// A list of the same element.
    static func list(_ element: JSONValue, _ count: Int) -> JSONValue { .array(Array(repeating: element, count: count)) }
}

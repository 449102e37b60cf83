/// The error of a refused request. On the wire: `{"error": {"code", "message", "field"?,
/// "retry_after"?}}`.
public struct ChatError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The reason of a refusal.
    public enum Code: String, WireChoice {
        /// A field is missing or invalid. `field` names it.
        case badRequest = "bad_request"
        /// The session has ended or does not exist, the password or the code of a sign-in is wrong,
        /// or the link to a file has expired.
        case unauthorized
        /// The role or the settings do not permit the action, or the password or code that
        /// confirms it is wrong. `field` then names it.
        case forbidden
        /// The object does not exist, or its existence must not be revealed to the user.
        case notFound = "not_found"
        /// Another request has the same id, the name is taken, or the object is already in another
        /// state.
        case conflict
        /// A text, list or body exceeds a limit. `field` names it.
        case tooLarge = "too_large"
        /// The server does not support the verb, the kind or a value. `field` names the value.
        case unsupported
        /// A rate limit is exceeded. `retry_after` is the time after which a retry can succeed.
        case tooMany = "too_many"
        /// A number of objects has reached its maximum. A retry does not help.
        case limit
        /// The time limit for the action has passed.
        case tooLate = "too_late"
        /// The token of a `sync` is too old, or belongs to another data epoch. Send the request
        /// without a token.
        case resync
        /// The group of an encrypted conversation has an epoch other than `if_epoch`.
        case epoch
        /// The server cannot write at present. The request had no effect.
        case storage
        /// The server is starting, stopping or overloaded.
        case unavailable
        /// The server failed.
        case `internal`
        /// A code that a later version of the server defines. Treat it as permanent.
        case unknown

        /// Whether a later retry of the request, with the same id, can succeed.
        public var isTemporary: Bool {
            switch self {
            case .tooMany, .storage, .unavailable, .internal: true
            default: false
            }
        }

        /// The status code of an HTTP response with this error code.
        package var httpStatus: Int {
            switch self {
            case .badRequest: 400
            case .unauthorized: 401
            case .forbidden: 403
            case .notFound: 404
            case .conflict, .resync, .epoch: 409
            case .tooLarge: 413
            case .unsupported: 501
            case .tooMany: 429
            case .limit: 422
            case .tooLate: 410
            case .storage, .unavailable: 503
            case .internal, .unknown: 500
            }
        }
    }

    /// The reason for the refusal.
    public var code: Code
    /// A description for developers, in English.
    public var message: String
    /// The path of the invalid field, such as `body.text`; nil if the error concerns no field.
    public var field: String?
    /// The time after which a retry can succeed, in milliseconds; nil if it is not known.
    public var retryAfter: Int64?

    package init(_ code: Code, message: String, field: String? = nil, retryAfter: Int64? = nil) {
        self.code = code
        self.message = message
        self.field = field
        self.retryAfter = retryAfter
    }

    /// The code and the message.
    public var description: String { "\(self.code.rawValue): \(self.message)" }

    /// Creates the error of a request that could not be decoded.
    package init(_ error: WireError) {
        switch error.problem {
        case .missing, .invalid: self.init(.badRequest, message: error.message, field: error.field)
        case .tooLarge: self.init(.tooLarge, message: error.message, field: error.field)
        case .unsupported: self.init(.unsupported, message: error.message, field: error.field)
        }
    }
}

extension ChatError: WireObject {
    package init(from reader: WireReader) throws(WireError) {
        self = try reader.object("error", as: Inner.self).error
    }

    package func write(to writer: inout WireWriter) { writer.write("error", Inner(error: self)) }

    private struct Inner: WireObject {
        let error: ChatError

        init(error: ChatError) { self.error = error }

        init(from reader: WireReader) throws(WireError) {
            self.error = ChatError(
                try reader.choice("code"), message: try reader.stringIfPresent("message", maximum: ChatLimits.messageLength) ?? "",
                field: try reader.stringIfPresent("field", maximum: ChatLimits.messageLength),
                retryAfter: try reader.integerIfPresent("retry_after"))
        }

        func write(to writer: inout WireWriter) {
            writer.write("code", self.error.code)
            writer.write("message", self.error.message)
            writer.write("field", ifPresent: self.error.field)
            writer.write("retry_after", ifPresent: self.error.retryAfter)
        }
    }
}

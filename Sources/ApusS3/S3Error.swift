/// An error of a request to an object store, or of its configuration.
package struct S3Error: Error, Hashable, CustomStringConvertible {
    package struct Code: Hashable, Sendable {
        private enum Value: Hashable { case invalidConfiguration, unreachable, missing, refused, malformedAnswer }
        private let value: Value

        /// A setting is not valid.
        package static let invalidConfiguration = Self(value: .invalidConfiguration)
        /// The store does not respond, or responds that it is temporarily unavailable. A retry can
        /// succeed.
        package static let unreachable = Self(value: .unreachable)
        /// The object, the upload or the bucket does not exist.
        package static let missing = Self(value: .missing)
        /// The store refused the request, for example because of the credentials.
        package static let refused = Self(value: .refused)
        /// The response of the store violates the S3 protocol.
        package static let malformedAnswer = Self(value: .malformedAnswer)
    }

    package var code: Code
    package var message: String
    /// The code in the response of the store, such as `NoSuchUpload`; empty if the response has
    /// none.
    package var name: String

    package init(_ code: Code, message: String, name: String = "") {
        self.code = code
        self.message = message
        self.name = name
    }

    package var description: String { self.message }

    /// Creates the error for a response with an error status.
    package init(status: Int, body: [UInt8]) {
        let elements = XMLElements(body)
        let name = elements?.text(of: "Error", "Code") ?? ""
        let text = elements?.text(of: "Error", "Message") ?? ""
        let code: Code =
            switch status {
            case 404: .missing
            case 408, 429, 500...599: .unreachable
            default: ["RequestTimeout", "SlowDown", "OperationAborted"].contains(name) ? .unreachable : .refused
            }
        let detail = [name, String(text.prefix(200))].filter { !$0.isEmpty }.joined(separator: ", ")
        self.init(code, message: "the object store answered HTTP \(status)" + (detail.isEmpty ? "" : ": \(detail)"), name: name)
    }
}

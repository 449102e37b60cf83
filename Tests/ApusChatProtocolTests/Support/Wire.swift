import ApusChatProtocol
import ApusJSON
import Testing

/// Values of the tests, and the check of a codec.
enum Wire {
    static let room = ConversationID(number: 7)
    static let other = ConversationID(number: 8)
    static let conv: JSONValue = "0000000000007"
    static let device = DeviceID(number: 5)
    static let alice = UserName(prepared: "alice")
    static let bob = UserName(prepared: "bob")
    static let carol = UserName(prepared: "carol")
    static let hash: JSONValue = .string(String(repeating: "0f", count: 32))
    static let otherHash: JSONValue = .string(String(repeating: "a1", count: 32))

    static func id(_ text: String) throws -> ClientID { try #require(ClientID(text)) }
    static func token(_ text: String) throws -> PageToken { try #require(PageToken(text)) }
    static func blob() throws -> BlobID { try #require(BlobID(String(repeating: "0f", count: 32))) }
    static func otherBlob() throws -> BlobID { try #require(BlobID(String(repeating: "a1", count: 32))) }
    static func code() throws -> LinkCode { try #require(LinkCode("k7Qm2ZtX9bVw4NsA")) }

    /// Checks that a value is written as an object and read from it. The fields of `value` should
    /// differ from each other, so that the check detects exchanged fields.
    static func check<Value: WireObject & Equatable>(
        _ value: Value, _ json: JSONValue, sourceLocation: SourceLocation = #_sourceLocation
    ) throws {
        #expect(value.json == json, sourceLocation: sourceLocation)
        #expect(try Value(json: json) == value, sourceLocation: sourceLocation)
    }
}

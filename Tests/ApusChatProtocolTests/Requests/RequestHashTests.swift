import ApusChatProtocol
import ApusJSON
import Testing

/// A retry has the hash of the first request. The hash covers the values that define the message
/// and `if_epoch`. It does not depend on `id`, `silent`, unknown fields, the order of the fields or
/// their form in JSON.
@Suite("Identity of a request")
struct RequestHashTests {
    private func bytes(_ text: String) throws -> [UInt8] {
        try SendRequest(json: JSONReader.read(text, limits: .init(loneSurrogates: .replace))).hashedBytes()
    }

    private let base = #"{"id":"m","conv":"0000000000001","kind":"text","body":{"text":"é 1","n":1}}"#

    @Test(arguments: [
        #"{"id":"m","conv":"0000000000001","kind":"text","body":{"n":1,"text":"é 1"}}"#,
        #"{"body":{"text":"\u00e9 1","n":1},"kind":"text","conv":"0000000000001","id":"m"}"#,
        #"{"id":"m2","conv":"0000000000001","kind":"text","body":{"text":"é 1","n":1.0}}"#,
        #"{"id":"m","conv":"0000000000001","kind":"text","body":{"text":"é 1","n":1e0},"silent":true}"#,
        #"{"id":"m","conv":"0000000000001","kind":"text","body":{"text":"é 1","n":1},"ref":null,"later":1}"#,
    ])
    func theSameRequest(text: String) throws {
        #expect(try self.bytes(text) == self.bytes(self.base))
    }

    @Test(arguments: [
        #"{"id":"m","conv":"0000000000002","kind":"text","body":{"text":"é 1","n":1}}"#,
        #"{"id":"m","conv":"0000000000001","kind":"x.a","body":{"text":"é 1","n":1}}"#,
        #"{"id":"m","conv":"0000000000001","kind":"text","body":{"text":"e\u0301 1","n":1}}"#,
        #"{"id":"m","conv":"0000000000001","kind":"text","body":{"text":"é 1","n":"1"}}"#,
        #"{"id":"m","conv":"0000000000001","kind":"text","body":{"text":"é 1","n":1},"ref":1}"#,
        #"{"id":"m","conv":"0000000000001","kind":"text","body":{"text":"é 1","n":1},"thread":1}"#,
        #"{"id":"m","conv":"0000000000001","kind":"text","body":{"text":"é 1","n":1},"if_epoch":1}"#,
        #"{"id":"m","conv":"0000000000001","kind":"text","body":{"text":"é 1","n":1,"later":null}}"#,
    ])
    func anotherRequest(text: String) throws {
        #expect(try self.bytes(text) != self.bytes(self.base))
    }

    /// The hashes of stored messages are those of these bytes. With another form, each retry after
    /// an upgrade of the server would be a conflict. A new form needs a version, beside the old
    /// one.
    @Test func theHashedFormIsFixed() throws {
        let all = """
            {"id":"m","conv":"0000000000001","kind":"text","body":{"text":"\\u00e9 \\"1\\"\\n","n":1.50,"a":[true,null]},\
            "ref":2,"thread":3,"if_epoch":4,"silent":true}
            """
        let hashed = try self.bytes(all)
        #expect(hashed.first == 1)
        #expect(
            String(decoding: hashed.dropFirst(), as: UTF8.self)
                == #"{"body":{"a":[true,null],"n":1.5,"text":"é \"1\"\n"},"conv":"0000000000001","#
                + #""if_epoch":4,"kind":"text","ref":2,"thread":3}"#
        )
        let plain = try self.bytes(self.base).dropFirst()
        #expect(
            String(decoding: plain, as: UTF8.self)
                == #"{"body":{"n":1,"text":"é 1"},"conv":"0000000000001","kind":"text"}"#)
    }

    @Test func loneSurrogatesAreReplaced() throws {
        let lone = #"{"id":"m","conv":"0000000000001","kind":"text","body":{"text":"a\ud83d"}}"#
        let replaced = #"{"id":"m","conv":"0000000000001","kind":"text","body":{"text":"a\ufffd"}}"#
        #expect(try self.bytes(lone) == self.bytes(replaced))
    }

    @Test func changingRequestsHaveAnIdentityWithoutTheirID() throws {
        let first = try EditRequest(json: ["id": "a", "conv": "0000000000001", "ref": 3, "body": ["text": "x"]])
        let retry = try EditRequest(json: ["body": ["text": "x"], "ref": 3, "conv": "0000000000001", "id": "b"])
        let other = try EditRequest(json: ["id": "a", "conv": "0000000000001", "ref": 4, "body": ["text": "x"]])
        #expect(try ChatVerbs.edit.hashedBytes(of: first) == ChatVerbs.edit.hashedBytes(of: retry))
        #expect(try ChatVerbs.edit.hashedBytes(of: first) != ChatVerbs.edit.hashedBytes(of: other))
        // The verb is a part of the identity: `block` and `unblock` have the same fields.
        let user = try ContactUserRequest(json: ["id": "a", "user": "bob"])
        #expect(try ChatVerbs.block.hashedBytes(of: user) != ChatVerbs.unblock.hashedBytes(of: user))
    }
}

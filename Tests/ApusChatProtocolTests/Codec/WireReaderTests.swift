import ApusChatProtocol
import ApusJSON
import Testing

@Suite("Reading and writing fields")
struct WireReaderTests {
    private func reader(_ fields: JSONObject) -> WireReader { WireReader(fields) }

    private func problem(_ read: () throws(WireError) -> Void) -> WireError? {
        do throws(WireError) {
            try read()
            return nil
        } catch { return error }
    }

    @Test func nullsAreAbsent() throws {
        let reader = self.reader(["a": .null])
        #expect(!reader.has("a") && reader["a"] == nil)
        #expect(try reader.integerIfPresent("a") == nil && reader.bool("a") == false && reader.boolIfPresent("a") == nil)
        #expect(try reader.strings("a", length: 1, maximum: 1) == [])
        #expect(
            self.problem { () throws(WireError) in _ = try reader.integer("a") } == WireError(.missing, field: "a", rule: "is required"))
    }

    @Test(
        arguments: [
            (JSONValue.integer(0), 0), (2.0, 2), (.integer(WireReader.largestInteger), WireReader.largestInteger), (-1, nil), (0.5, nil),
            ("1", nil),
            (true, nil), (.integer(.max), nil), (.integer(.min), nil), (.double(1e300), nil), ([], nil),
        ] as [(JSONValue, Int64?)])
    func integersAreExact(value: JSONValue, expected: Int64?) {
        #expect((try? self.reader(["a": value]).integer("a")) == expected)
    }

    @Test func pathsNameTheWrongValue() throws {
        let event: JSONValue = [
            "conv": "0000000000001", "seq": 1, "kind": "text", "reactions": [["key": "a", "count": 1], ["key": "b", "count": -1]],
        ]
        let push: JSONValue = ["events": [event]]
        let error = self.problem { () throws(WireError) in _ = try EventPush(json: push) }
        #expect(error?.field == "events[0].reactions[1].count")
        #expect(error?.message == "`events[0].reactions[1].count` must be an integer from 0 to 9007199254740991")
        let refusal = ChatError(try #require(error))
        #expect(refusal.code == .badRequest && refusal.field == error?.field && refusal.message == error?.message)
    }

    @Test func problemsHaveTheirCodes() {
        #expect(ChatError(WireError(.missing, field: "a", rule: "r")).code == .badRequest)
        #expect(ChatError(WireError(.tooLarge, field: "a", rule: "r")).code == .tooLarge)
        #expect(ChatError(WireError(.unsupported, field: "a", rule: "r")).code == .unsupported)
        #expect(WireError(.invalid, field: "", rule: "must be an object").message == "The value must be an object")
    }

    @Test func stringsAreCountedInScalars() throws {
        let reader = self.reader(["a": "👩‍👩‍👧"])
        #expect(try reader.string("a", maximum: 5) == "👩‍👩‍👧")
        #expect(self.problem { () throws(WireError) in _ = try reader.string("a", maximum: 4) }?.problem == .tooLarge)
        #expect(self.problem { () throws(WireError) in _ = try reader.string("a", minimum: 6, maximum: 9) }?.problem == .invalid)
        #expect(try reader.string("a", minimum: 5, maximum: 9).unicodeScalars.count == 5)
    }

    @Test func listsRefuseNullsAndOtherTypes() {
        let reader = self.reader(["a": [.null], "b": ["", "x"], "c": [1]])
        #expect(self.problem { () throws(WireError) in _ = try reader.strings("a", length: 1, maximum: 2) }?.field == "a[0]")
        #expect(self.problem { () throws(WireError) in _ = try reader.strings("b", length: 1, maximum: 2) }?.field == "b[0]")
        #expect(self.problem { () throws(WireError) in _ = try reader.texts("c", as: UserName.self, maximum: 2) }?.field == "c[0]")
        #expect(self.problem { () throws(WireError) in _ = try reader.integers("c", minimum: 2, maximum: 3) }?.field == "c")
    }

    @Test func writersOmitAbsentValues() {
        var writer = WireWriter()
        writer.write("a", ifPresent: Int64?.none)
        writer.write("b", ifPresent: String?.none)
        writer.write("c", ifTrue: false)
        writer.write("d", ifAny: [Int64]())
        writer.write("e", all: [Int64]())
        writer.write("f", ifPresent: [String]())
        writer.write("g", ifPresent: UserName?.none)
        #expect(JSONValue.object(writer.object) == ["e": [], "f": []])
    }

    @Test func fieldsKeepTheirOrder() throws {
        let answer = SendAnswer(conversation: ConversationID(number: 1), id: try #require(ClientID("m")), seq: 1, n: 1, at: 2)
        #expect(try answer.json.jsonString() == #"{"conv":"0000000000001","id":"m","seq":1,"n":1,"at":2}"#)
    }
}

@Suite("Errors of the chat")
struct ChatErrorTests {
    @Test func allFieldsTravel() throws {
        let error = ChatError(.tooMany, message: "Wait.", field: "conv", retryAfter: 1_500)
        #expect(try error.json.jsonString() == #"{"error":{"code":"too_many","message":"Wait.","field":"conv","retry_after":1500}}"#)
        #expect(try ChatError(json: error.json) == error)
        #expect(error.description == "too_many: Wait.")
    }

    @Test func laterCodesArePermanent() throws {
        let error = try ChatError(json: ["error": ["code": "teapot"]])
        #expect(error.code == .unknown && !error.code.isTemporary && error.message.isEmpty)
        #expect(throws: WireError.self) { try ChatError(json: ["events": []]) }
    }

    @Test func temporaryErrorsAreThoseThatPass() {
        #expect(ChatError.Code.allCases.filter(\.isTemporary) == [.tooMany, .storage, .unavailable, .internal])
        for code in ChatError.Code.allCases { #expect((400..<600).contains(code.httpStatus)) }
    }
}

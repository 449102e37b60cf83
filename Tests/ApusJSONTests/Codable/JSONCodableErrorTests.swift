import ApusJSON
import Foundation
import Testing

/// Errors contain the coding path. Decoding errors do not quote the data.
struct JSONCodableErrorTests {
    struct Outer: Codable {
        var list: [Inner]
    }
    struct Inner: Codable {
        var number: UInt8
        var date: Date?
        var ratio: Double?
        var big: UInt64?
        var float: Float?
        var link: URL?
        var data: Data?
    }

    private func path(_ value: JSONValue) -> String {
        do {
            _ = try JSONValueDecoder().decode(Outer.self, from: value)
            return "none"
        } catch DecodingError.typeMismatch(_, let context) {
            return "typeMismatch " + Self.text(context.codingPath)
        } catch DecodingError.valueNotFound(_, let context) {
            return "valueNotFound " + Self.text(context.codingPath)
        } catch DecodingError.keyNotFound(let key, let context) {
            return "keyNotFound " + Self.text(context.codingPath) + " " + key.stringValue
        } catch DecodingError.dataCorrupted(let context) {
            return "dataCorrupted " + Self.text(context.codingPath)
        } catch {
            return "\(error)"
        }
    }

    private static func text(_ path: [any CodingKey]) -> String {
        path.map { key in key.intValue.map { "[\($0)]" } ?? "." + key.stringValue }.joined()
    }

    @Test(
        arguments: [
            (["list": [["number": 1]]], "none"), (["list": [["number": 1.0, "date": 0, "ratio": 1, "big": 1, "float": 2]]], "none"),
            (nil, "valueNotFound "),
            (1, "typeMismatch "), ([:], "keyNotFound  list"), (["list": nil], "valueNotFound .list"), (["list": [:]], "typeMismatch .list"),
            (["list": [["number": 1], nil]], "valueNotFound .list[1]"), (["list": [["number": 1], 2]], "typeMismatch .list[1]"),
            (["list": [["number": 1], [:]]], "keyNotFound .list[1] number"), (["list": [["number": "1"]]], "typeMismatch .list[0].number"),
            (["list": [["number": nil]]], "valueNotFound .list[0].number"), (["list": [["number": true]]], "typeMismatch .list[0].number"),
            (["list": [["number": 256]]], "dataCorrupted .list[0].number"), (["list": [["number": -1]]], "dataCorrupted .list[0].number"),
            (["list": [["number": 1.5]]], "dataCorrupted .list[0].number"),
            (["list": [["number": 1e300]]], "dataCorrupted .list[0].number"),
            (["list": [["number": 1, "big": -1]]], "dataCorrupted .list[0].big"),
            (["list": [["number": 1, "big": 1e18]]], "dataCorrupted .list[0].big"),
            (["list": [["number": 1, "float": 1e300]]], "dataCorrupted .list[0].float"),
            (["list": [["number": 1, "ratio": "x"]]], "typeMismatch .list[0].ratio"),
            (["list": [["number": 1, "date": "yesterday"]]], "dataCorrupted .list[0].date"),
            (["list": [["number": 1, "date": true]]], "typeMismatch .list[0].date"),
            (["list": [["number": 1, "link": ""]]], "dataCorrupted .list[0].link"),
            (["list": [["number": 1, "link": 1]]], "typeMismatch .list[0].link"),
            (["list": [["number": 1, "data": "?"]]], "dataCorrupted .list[0].data"),
            (["list": [["number": 1, "data": 1]]], "typeMismatch .list[0].data"),
            (["list": [["number": 1, "data": [1, 256]]]], "dataCorrupted .list[0].data[1]"),
        ] as [(JSONValue, String)])
    func decodingErrorsSayWhere(value: JSONValue, expected: String) {
        #expect(path(value) == expected)
    }

    @Test func errorsDoNotQuoteTheData() {
        do {
            _ = try JSONValueDecoder().decode(Outer.self, from: ["list": [["number": "secret"]]])
        } catch {
            #expect(!"\(error)".contains("secret"))
        }
    }

    @Test(
        arguments: [
            (Inner(number: 1, ratio: .nan), ".list[0].ratio"), (Inner(number: 1, ratio: -.infinity), ".list[0].ratio"),
            (Inner(number: 1, big: .max), ".list[0].big"),
            (Inner(number: 1, float: .infinity), ".list[0].float"),
        ] as [(Inner, String)])
    func encodingErrorsSayWhere(value: Inner, expected: String) {
        do {
            _ = try JSONValueEncoder().encode(Outer(list: [value]))
            Issue.record("encoded")
        } catch EncodingError.invalidValue(_, let context) {
            #expect(Self.text(context.codingPath) == expected)
        } catch {
            Issue.record(error)
        }
    }

    /// Foundation traps when an invalid date is printed, so an error must not contain the date.
    @Test(arguments: [1e15, -1e15, .nan, .infinity])
    func datesBeyondTheCalendarAreRefused(seconds: Double) {
        let outer = Outer(list: [Inner(number: 1, date: Date(timeIntervalSince1970: seconds))])
        let error = #expect(throws: EncodingError.self) { try JSONValueEncoder().encode(outer) }
        guard case .invalidValue(let value, let context) = error else { return }
        #expect(Self.text(context.codingPath) == ".list[0].date")
        #expect(value is Double)
    }
}

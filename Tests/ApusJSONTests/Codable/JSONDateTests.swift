import ApusJSON
import Foundation
import Testing

struct JSONDateTests {
    @Test(
        arguments: [
            (0, "1970-01-01T00:00:00.000Z"), (-1, "1969-12-31T23:59:59.999Z"), (951_782_400_000, "2000-02-29T00:00:00.000Z"),
            (1_795_273_445_678, "2026-11-21T15:04:05.678Z"),
            (-62_167_219_200_000, "0000-01-01T00:00:00.000Z"), (-62_167_219_200_001, "-000001-12-31T23:59:59.999Z"),
            (253_402_300_799_999, "9999-12-31T23:59:59.999Z"),
            (253_402_300_800_000, "+010000-01-01T00:00:00.000Z"), (8_640_000_000_000_000, "+275760-09-13T00:00:00.000Z"),
            (-8_640_000_000_000_000, "-271821-04-20T00:00:00.000Z"),
        ] as [(Int, String)])
    func asJavaScriptWritesIt(milliseconds: Int, text: String) throws {
        let date = Date(timeIntervalSince1970: Double(milliseconds) / 1000)
        #expect(try JSONValueEncoder().encode(date) == .date(date))
        #expect(try JSONValue.date(date).jsonString() == "\"\(text)\"")
        #expect(try JSONValueDecoder().decode(Date.self, from: .date(date)) == date)
        #expect(try JSONValueDecoder().decode(String.self, from: .date(date)) == text)
        #expect(try JSONValueDecoder().decode(Date.self, from: .string(text)) == date)
        #expect(try JSONValueDecoder().decode(Date.self, from: .integer(Int64(milliseconds))) == date)
    }

    @Test(
        arguments: [
            ("2026-11-21", "2026-11-21T00:00:00.000Z"), ("2026-11-21T15:04Z", "2026-11-21T15:04:00.000Z"),
            ("2026-11-21T15:04:05Z", "2026-11-21T15:04:05.000Z"),
            ("2026-11-21t15:04:05z", "2026-11-21T15:04:05.000Z"), ("2026-11-21 15:04:05.5Z", "2026-11-21T15:04:05.500Z"),
            ("2026-11-21T15:04:05.123456+00:00", "2026-11-21T15:04:05.123Z"),
            ("2026-11-21T23:04:05+08:00", "2026-11-21T15:04:05.000Z"), ("2026-11-21T23:34:05-0330", "2026-11-22T03:04:05.000Z"),
            ("2026-11-21T15:04:05.1234567890123Z", "2026-11-21T15:04:05.123Z"), ("2024-02-29T00:00:00Z", "2024-02-29T00:00:00.000Z"),
        ] as [(String, String)])
    func acceptsOutputOfOtherEncoders(text: String, normal: String) throws {
        let date = try JSONValueDecoder().decode(Date.self, from: .string(text))
        #expect(try JSONValueEncoder().encode(date).jsonString() == "\"\(normal)\"")
    }

    @Test(arguments: [
        "", "x", "2026", "2026-11", "2026-13-01", "2026-00-01", "2026-02-29", "2026-11-31", "2026-11-00", "2026-11-21T", "2026-11-21T15",
        "2026-11-21T15:04", "2026-11-21T15:04:05",
        "2026-11-21T24:00:00Z", "2026-11-21T15:60:00Z", "2026-11-21T15:04:60Z", "2026-11-21T15:04:05.Z", "2026-11-21T15:04:05Zx",
        "2026-11-21T15:04:05+8", "2026-11-21T15:04:05+24:00",
        "26-11-21", "2026-11-21T15:04:05+08:60", "+2026-11-21", "+999999-01-01", "２０２６-11-21", "2026-1a-01",
    ])
    func refusesTheRest(text: String) {
        #expect(throws: DecodingError.self) { try JSONValueDecoder().decode(Date.self, from: .string(text)) }
    }

    @Test(arguments: [1e15, -1e15, .nan, .infinity])
    func oneBeyondTheCalendarIsNull(seconds: Double) throws {
        #expect(try JSONValue.date(Date(timeIntervalSince1970: seconds)).jsonString() == "null")
    }
}

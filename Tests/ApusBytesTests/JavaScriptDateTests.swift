import Testing

@testable import ApusBytes

@Suite struct JavaScriptDateTests {
    @Test(arguments: [
        (Int64(0), "Thu Jan 01 1970 00:00:00"), (1_795_288_226_123, "Sat Nov 21 2026 19:10:26"),
        (951_782_400_000, "Tue Feb 29 2000 00:00:00"),
        (-1, "Wed Dec 31 1969 23:59:59"), (-11_644_516_800_000, "Sun Dec 31 1600 12:00:00"),
        (4_107_542_401_000, "Mon Mar 01 2100 00:00:01"),
        (253_402_300_799_999, "Fri Dec 31 9999 23:59:59"), (8_640_000_000_000_000, "Sat Sep 13 275760 00:00:00"),
        (-62_198_755_200_000, "Fri Jan 01 -000001 00:00:00"),
    ])
    func datesAreAsJavaScriptWritesThem(milliseconds: Int64, text: String) {
        #expect(JavaScriptDate(millisecondsSince1970: milliseconds).description == "\(text) GMT+0000 (Coordinated Universal Time)")
    }

    @Test(arguments: [Int64.min, .max, 8_640_000_000_000_001]) func datesOutOfRangeAreInvalid(milliseconds: Int64) {
        #expect(JavaScriptDate(millisecondsSince1970: milliseconds).description == "Invalid Date")
    }
}

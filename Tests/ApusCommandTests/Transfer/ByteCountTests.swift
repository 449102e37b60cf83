import Testing

@testable import apus

@Suite struct ByteCountTests {
    @Test(arguments: [
        ("0", 0), ("500", 500), ("500b", 500), ("10K", 10_000), ("10kB", 10_000), ("1.5GB", 1_500_000_000), ("64KiB", 65_536),
        ("2gib", 2 << 30), ("1T", 1_000_000_000_000),
    ])
    func numbers(text: String, bytes: Int) { #expect(ByteCount(argument: text)?.bytes == bytes) }

    @Test(arguments: ["", "K", "-1", "1X", "1KK", "1ib", "1e3", "nan", "1..5", "99999999999T", "1 K", "１"])
    func invalidNumbers(text: String) { #expect(ByteCount(argument: text) == nil) }

    @Test(arguments: [
        (0, "0 B"), (999, "999 B"), (1000, "1.00 kB"), (9_994, "9.99 kB"), (9_996, "10.0 kB"), (99_960, "100 kB"), (999_499, "999 kB"),
        (999_600, "1.00 MB"), (123_456_789, "123 MB"), (Int.max, "9.22 EB"),
    ])
    func texts(bytes: Int, text: String) { #expect(ByteCount(bytes).text == text) }
}

import Testing

@testable import ApusChatClient

@Suite("Byte count")
struct ByteCountTests {
    @Test(arguments: [
        (0, "0 bytes"), (1, "1 byte"), (1_023, "1023 bytes"), (1_024, "1 KiB"), (1_535, "1.4 KiB"), (1_048_575, "1023.9 KiB"),
        (26_214_400, "25 MiB"), (26_214_399, "24.9 MiB"), (104_857_600, "100 MiB"), (3 << 29, "1.5 GiB"), (.max, "8589934591.9 GiB"),
    ])
    func aLimitIsShownInBinaryUnits(bytes: Int64, text: String) {
        #expect(ByteCount.text(ofLimit: bytes) == text)
    }
}

import ApusConnectivity
import Testing

@Suite struct TLSSettingsTests {
    @Test func theDefaultVerifies() {
        #expect(TLSSettings().verification == .system)
        #expect(TLSSettings().serverName == nil)
    }

    @Test func aFingerprintReadsBothSpellings() throws {
        let plain = String(repeating: "0aF9", count: 16)
        let colons = Array(repeating: "0A:f9", count: 16).joined(separator: ":")
        let fingerprint = try #require(CertificateFingerprint(plain))
        #expect(CertificateFingerprint(colons) == fingerprint)
        #expect(fingerprint.description == plain.lowercased())
        #expect(CertificateFingerprint(bytes: fingerprint.bytes) == fingerprint)
    }

    @Test(arguments: [
        "", ":", "0a", String(repeating: "0", count: 63), String(repeating: "0", count: 66), String(repeating: "0g", count: 32),
        ":" + String(repeating: "00", count: 32), "0:0" + String(repeating: "0", count: 62), "00::" + String(repeating: "00", count: 31),
        String(repeating: "00", count: 32) + ":",
    ])
    func aBadFingerprintIsRefused(text: String) {
        #expect(CertificateFingerprint(text) == nil)
    }
}

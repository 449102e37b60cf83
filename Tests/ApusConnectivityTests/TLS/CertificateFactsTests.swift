import ApusSeededRandom
import ApusTesting
import Crypto
import SwiftASN1
import Testing
import X509

@testable import ApusConnectivity

@Suite struct CertificateFactsTests {
    private func facts(_ names: GeneralName...) throws -> CertificateFacts {
        try #require(CertificateFacts(der: try TestCertificate("localhost", names: names).der))
    }

    @Test func theFieldsAreFound() throws {
        let authority = try TestCertificate("An authority", isAuthority: true)
        let server = try TestCertificate("A server", issuer: authority)
        let facts = try #require(CertificateFacts(der: try server.der))
        #expect(!facts.isSelfIssued)
        #expect(try CertificateFacts(der: authority.der)?.isSelfIssued == true)
        #expect(Array(facts.publicKeyInfo) == Array(server.key.publicKey.derRepresentation))
        #expect(facts.dnsNames.map { String(decoding: $0, as: UTF8.self) } == ["localhost"])
        #expect(facts.ipAddresses.map(Array.init) == [[127, 0, 0, 1]])
    }

    @Test(arguments: [
        ("example.com", "example.com", true), ("example.com", "EXAMPLE.com.", true), ("Example.Com", "example.com", true),
        ("example.com", "www.example.com", false), ("*.example.com", "www.example.com", true), ("*.example.com", "a.b.example.com", false),
        ("*.example.com", "example.com", false), ("*.com", "example.com", false), ("w*.example.com", "www.example.com", false),
        ("www.*.com", "www.example.com", false), ("*", "localhost", false), ("localhost", "localhost", true), ("", "localhost", false),
        ("example.com", "", false), ("example.com", "example..com", false), ("example.com", "example.com\0.evil.org", false),
        ("127.0.0.1", "127.0.0.1", false), ("*.0.0.1", "127.0.0.1", false), ("xn--bcher-kva.example", "xn--bcher-kva.example", true),
    ])
    func aNameIsCompared(certificate: String, host: String, isFor: Bool) throws {
        #expect(try self.facts(.dnsName(certificate)).isFor(host: host) == isFor)
    }

    @Test func anAddressIsComparedWithAddresses() throws {
        #expect(try self.facts(.loopback).isFor(host: "127.0.0.1"))
        #expect(try !self.facts(.loopback).isFor(host: "127.0.0.2"))
        #expect(try !self.facts(.loopback).isFor(host: "::ffff:127.0.0.1"))
        #expect(
            try self.facts(.ipAddress(ASN1OctetString(contentBytes: ArraySlice(Array(repeating: 0, count: 15) + [1])))).isFor(host: "::1"))
        #expect(try !self.facts(.dnsName("example.com")).isFor(host: "localhost"))  // the common name of the certificate
    }

    @Test func malformedBytesAreNotACertificate() throws {
        let der = try TestCertificate("A server").der
        #expect(CertificateFacts(der: []) == nil)
        for length in 0..<der.count { #expect(CertificateFacts(der: Array(der.prefix(length))) == nil) }
        var generator = SplitMix64(state: 19)
        for _ in 0..<20_000 {
            var bytes = der
            for _ in 0..<3 { bytes[Int.random(in: 0..<bytes.count, using: &generator)] = UInt8.random(in: 0...255, using: &generator) }
            _ = CertificateFacts(der: bytes)?.isFor(host: "localhost")
        }
    }
}

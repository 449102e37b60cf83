import ApusBytes

extension CertificateFacts {
    /// Returns whether the certificate was issued for a host.
    ///
    /// Implemented here because swift-nio-ssl also accepts a certificate for the IP address of the
    /// connected peer, regardless of the requested name. A proxy or a spoofed host could present a
    /// certificate for its own address. This check compares a name only with DNS names and an
    /// address only with IP addresses. It ignores the common name.
    ///
    /// Source: RFC 9525 sections 6.3 to 6.6.
    func isFor(host: String) -> Bool {
        if let address = IPAddress(host) { return self.ipAddresses.contains { $0.elementsEqual(address.bytes) } }
        guard let wanted = Self.labels(host.utf8) else { return false }
        return self.dnsNames.contains { name in
            guard let labels = Self.labels(name), labels.count == wanted.count, labels.dropFirst() == wanted.dropFirst() else {
                return false
            }
            if labels.first == wanted.first { return true }
            // "the wildcard character … is the complete and only character in the left-most label".
            // A wildcard never matches a whole top-level domain.
            return labels.first == [UInt8(ascii: "*")] && labels.count > 2
        }
    }

    /// Returns the labels of a name in lower case, without a trailing dot; `nil` if the name is
    /// invalid.
    private static func labels(_ name: some Collection<UInt8>) -> [[UInt8]]? {
        var bytes = name.map(\.asciiLowercased)
        if bytes.last == UInt8(ascii: ".") { bytes.removeLast() }
        guard !bytes.isEmpty, bytes.count <= 253, bytes.allSatisfy({ $0 > 0x20 && $0 < 0x7F }) else { return nil }
        let labels = bytes.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false).map(Array.init)
        return labels.contains([]) ? nil : labels
    }
}

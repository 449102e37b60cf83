import ApusBytes

#if canImport(Darwin)
    import Darwin
#elseif canImport(Musl)
    import Musl
#else
    import Glibc
#endif

/// An IP address as 4 or 16 bytes, for comparison.
struct IPAddressBytes: Hashable {
    let bytes: [UInt8]

    /// Parses the text of an address; `nil` for a name.
    init?(_ text: String) {
        guard !text.utf8.contains(0) else { return nil }  // inet_pton stops at a NUL
        for (family, count) in [(AF_INET, 4), (AF_INET6, 16)] {
            var bytes = [UInt8](repeating: 0, count: count)
            if inet_pton(family, text, &bytes) == 1 {
                self.bytes = bytes
                return
            }
        }
        return nil
    }

    /// Creates an address of 4 or 16 bytes; `nil` for any other number.
    init?(bytes: some Collection<UInt8>) {
        guard bytes.count == 4 || bytes.count == 16 else { return nil }
        self.bytes = Array(bytes)
    }

    /// Whether the address is in 127.0.0.0/8, or ::1, or an IPv4-mapped loopback address.
    var isLoopback: Bool {
        switch self.bytes.count {
        case 4: self.bytes[0] == 127
        default: self.bytes == Array(repeating: 0, count: 15) + [1] || self.mapped?.isLoopback == true
        }
    }

    /// The IPv4 address in an IPv4-mapped address, `::ffff:a.b.c.d` (RFC 4291 2.5.5.2).
    private var mapped: IPAddressBytes? {
        guard self.bytes.count == 16, self.bytes.starts(with: Array(repeating: 0, count: 10) + [0xFF, 0xFF]) else { return nil }
        return IPAddressBytes(bytes: Array(self.bytes.suffix(4)))
    }

    /// Returns whether the first `length` bits equal those of `other`.
    func matches(_ other: IPAddressBytes, prefixLength length: Int) -> Bool {
        guard self.bytes.count == other.bytes.count, (0...self.bytes.count * 8).contains(length) else { return false }
        let (whole, bits) = length.quotientAndRemainder(dividingBy: 8)
        guard self.bytes.prefix(whole).elementsEqual(other.bytes.prefix(whole)) else { return false }
        guard bits > 0 else { return true }
        let mask = UInt8.max << UInt8(8 - bits)
        return self.bytes[whole] & mask == other.bytes[whole] & mask
    }

    /// Returns whether a host is a loopback address or `localhost` (RFC 6761 6.3).
    static func isLoopback(host: String) -> Bool {
        if let address = IPAddressBytes(host) { return address.isLoopback }
        let name = (host.hasSuffix(".") ? host.dropLast() : host[...]).asciiLowercased
        return name == "localhost" || name.hasSuffix(".localhost")
    }
}

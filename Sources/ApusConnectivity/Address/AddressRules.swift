/// Decides to which addresses a server may connect if an untrusted peer has chosen the destination.
///
/// Permits addresses that are globally reachable according to the registries of RFC 6890 and its
/// updates. The address that is checked is the address that is dialed, so that a name cannot change
/// its address between the check and the connection.
package struct AddressRules: Sendable {
    /// Networks that are permitted in any case, for example by tests.
    package var exceptions: [IPNetwork]

    package init(exceptions: [IPNetwork] = []) { self.exceptions = exceptions }

    /// Returns whether a connection to an address is permitted.
    package func permit(_ address: IPAddress) -> Bool {
        let unmapped = address.unmapped
        if self.exceptions.contains(where: { $0.contains(address) || $0.contains(unmapped) }) { return true }
        if unmapped.bytes.count == 4 { return !Self.special4.contains { $0.contains(unmapped) } }
        // Only 2000::/3 is assigned to the global Internet (RFC 4291 section 2.4). Addresses that
        // contain IPv4 addresses (64:ff9b::/96, 2002::/16) could lead to private networks.
        return Self.global6.contains { $0.contains(address) } && !Self.special6.contains { $0.contains(address) }
    }

    private static let special4 = [
        "0.0.0.0/8", "10.0.0.0/8", "100.64.0.0/10", "127.0.0.0/8", "169.254.0.0/16", "172.16.0.0/12", "192.0.0.0/24", "192.0.2.0/24",
        "192.88.99.0/24", "192.168.0.0/16", "198.18.0.0/15", "198.51.100.0/24", "203.0.113.0/24", "224.0.0.0/4", "240.0.0.0/4",
    ].compactMap { IPNetwork($0) }

    private static let global6 = ["2000::/3"].compactMap { IPNetwork($0) }

    private static let special6 = ["2001::/23", "2001:db8::/32", "2002::/16", "3fff::/20"].compactMap { IPNetwork($0) }
}

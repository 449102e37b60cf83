public import ApusConnectivity
public import HTTPTypes
public import NIOCore

/// The reverse proxies that report the address of a client to the server.
///
/// A proxy appends the address of its peer to a header field. Any client can send the same field,
/// so the server uses only the entries that trusted proxies appended: it reads the list from the
/// end, skips trusted addresses, and uses the first other address.
///
/// ```swift
/// let proxies = try TrustedProxies(networks: ["10.0.0.0/8", "::1"], field: .xForwardedFor)
/// configuration.clientAddress = { request, peer in proxies.clientKey(of: request, from: peer) }
/// ```
///
/// Sources: RFC 7239 sections 4 to 6 and 7.4; `X-Forwarded-For` as nginx, HAProxy and Envoy write
/// it.
public struct TrustedProxies: Hashable, Sendable {
    /// The header field that the proxies append to.
    ///
    /// The server reads one field only, because proxies forward the other field as the client sent
    /// it.
    public struct Field: Hashable, Sendable {
        let isForwarded: Bool
        /// `Forwarded` (RFC 7239).
        public static let forwarded = Self(isForwarded: true)
        /// `X-Forwarded-For`, a list of addresses.
        public static let xForwardedFor = Self(isForwarded: false)
    }

    /// No proxy: the client is the peer of the connection.
    public static let none = Self(parsed: [], field: .xForwardedFor)

    private let networks: [IPNetwork]
    private let field: Field
    /// The maximum number of entries that are read, from the end of the list.
    private static let maximumEntries = 32

    /// Creates the list of trusted proxies.
    ///
    /// - Parameters:
    ///   - networks: IP addresses (`192.0.2.7`, `2001:db8::7`) and networks in CIDR notation
    ///     (`10.0.0.0/8`).
    ///   - field: The header field that all proxies append to. Default: `X-Forwarded-For`.
    /// - Throws: `ConnectivityError` with `invalidConfiguration` for any other text.
    public init(networks: [String], field: Field = .xForwardedFor) throws(ConnectivityError) {
        var parsed: [IPNetwork] = []
        for text in networks {
            guard let network = IPNetwork(text) else {
                throw ConnectivityError(
                    .invalidConfiguration, message: "`\(text)` is not an IP address or a network such as 10.0.0.0/8")
            }
            parsed.append(network)
        }
        self.init(parsed: parsed, field: field)
    }

    private init(parsed: [IPNetwork], field: Field) {
        self.networks = parsed
        self.field = field
    }

    /// Returns the IP address of the client, in its canonical text form; `nil` if the connection is
    /// not an IP connection.
    ///
    /// An entry that is not an address (`unknown`, `_hidden`, or not valid) ends the search. The
    /// proxy that appended the entry is then treated as the client.
    ///
    /// - Parameters:
    ///   - request: The request, with the field of the proxies.
    ///   - peer: The address of the connection.
    public func clientAddress(of request: HTTPRequest, from peer: SocketAddress?) -> String? {
        self.client(of: request.headerFields, from: peer)?.description
    }

    /// Returns the name under which quotas count the client: its IPv4 address or IPv6 /64 network;
    /// `nil` for loopback addresses and for connections without an IP address.
    ///
    /// - Parameters:
    ///   - request: The request, with the field of the proxies.
    ///   - peer: The address of the connection.
    public func clientKey(of request: HTTPRequest, from peer: SocketAddress?) -> String? {
        self.client(of: request.headerFields, from: peer).flatMap { ClientAddress.key(of: $0) }
    }

    func client(of fields: HTTPFields, from peer: SocketAddress?) -> IPAddress? {
        guard var client = peer.flatMap(IPAddress.init)?.unmapped else { return nil }
        guard self.trusts(client) else { return client }
        let entries = self.field.isForwarded ? Self.forwardedEntries(fields) : Self.listedEntries(fields)
        for entry in entries.reversed().prefix(Self.maximumEntries) {
            guard let address = entry else { return client }
            client = address.unmapped
            guard self.trusts(client) else { return client }
        }
        return client
    }

    private func trusts(_ address: IPAddress) -> Bool { self.networks.contains { $0.contains(address) } }

    // MARK: Header fields

    private static func listedEntries(_ fields: HTTPFields) -> [IPAddress?] {
        guard let name = HTTPField.Name("X-Forwarded-For") else { return [] }
        return fields[values: name].flatMap { $0.split(separator: ",", omittingEmptySubsequences: false) }.map {
            IPAddress(node: trimmed($0))
        }
    }

    /// Returns the `for` parameter of each element (RFC 7239 section 4); `nil` for a field that is
    /// not valid.
    private static func forwardedEntries(_ fields: HTTPFields) -> [IPAddress?] {
        guard let name = HTTPField.Name("Forwarded") else { return [] }
        return fields[values: name].flatMap { field in
            self.split(field[...], at: ",")?.map { self.forwardedNode(in: $0) } ?? [nil]
        }
    }

    private static func forwardedNode(in element: Substring) -> IPAddress? {
        for parameter in self.split(element, at: ";") ?? [] {
            guard let parts = self.split(parameter, at: "="), parts.count == 2, self.trimmed(parts[0]).lowercased() == "for" else {
                continue
            }
            var value = self.trimmed(parts[1])
            if value.count >= 2, value.hasPrefix("\""), value.hasSuffix("\"") { value = value.dropFirst().dropLast() }
            return IPAddress(node: value)
        }
        return nil
    }

    /// Splits a text at separators outside quoted strings (RFC 9110 section 5.6.4). A quoted pair
    /// does not end a string. Returns `nil` for an unterminated string, with which a client could
    /// hide the entries that proxies append.
    private static func split(_ text: Substring, at separator: Character) -> [Substring]? {
        var isQuoted = false
        var isEscaped = false
        let parts = text.split(omittingEmptySubsequences: false) { character in
            if isEscaped {
                isEscaped = false
                return false
            }
            switch character {
            case "\"": isQuoted.toggle()
            case "\\": isEscaped = isQuoted
            default: return character == separator && !isQuoted
            }
            return false
        }
        return isQuoted ? nil : parts
    }

    private static func trimmed(_ text: Substring) -> Substring {
        var text = text
        while let first = text.first, first == " " || first == "\t" { text.removeFirst() }
        while let last = text.last, last == " " || last == "\t" { text.removeLast() }
        return text
    }
}

import ApusConnectivity
import ApusLinkPreviews
import NIOCore
import NIOHTTP1
import NIOPosix

/// Requests the pages to which links in messages lead.
///
/// The URL comes from a client. Requests therefore use only public addresses and the default ports
/// of http and https, and send no credentials or cookies. The check applies to the resolved address
/// of each connection, also after a redirect. A later change of the name therefore has no effect.
struct PageFetcher: Sendable {
    /// The maximum number of bytes that are read from a page. The `head` element is at its
    /// beginning.
    static let pageBytes = 512 << 10
    static let redirects = 3
    let rules: AddressRules
    let tls: TLSSettings
    /// Whether ports other than the default ones are permitted, for tests.
    let allowsAnyPort: Bool
    /// The maximum time for a page with all redirects.
    private let timeout: Duration
    /// The maximum time for one connection, and for its TLS handshake.
    private let connectionTimeout: Duration

    init(_ configuration: ChatServerConfiguration) {
        self.rules = AddressRules(exceptions: configuration.environment.outgoingNetworks.compactMap { IPNetwork($0) })
        self.tls = configuration.environment.outgoingAuthorities.map { .trusting(authoritiesPEM: $0) } ?? .system
        self.allowsAnyPort = !configuration.environment.outgoingNetworks.isEmpty
        (self.timeout, self.connectionTimeout) = configuration.environment.pageTimeouts
    }

    /// Returns the description from the `head` element of a page. Nil if the address has a port
    /// that is not permitted, if the response is not an HTML page with a title, or after too many
    /// redirects.
    ///
    /// - Throws: An error of the connection, also if the address is not public.
    func facts(of address: PageAddress) async throws -> PageFacts? {
        let end = ContinuousClock.now + self.timeout
        var address = address
        for _ in 0...Self.redirects {
            let time = end - .now
            guard time > .zero else { throw ConnectivityError(.timeout, message: "the page was not received within \(self.timeout)") }
            guard self.permits(address) else { return nil }
            let response = try await self.exchange(address, timeout: time)
            switch response.status {
            case 200:
                guard Self.isPage(response.headers.first(name: "Content-Type")) else { return nil }
                return PageFacts(
                    Array(response.body.readableBytesView.prefix(Self.pageBytes)), contentType: response.headers.first(name: "Content-Type")
                )
            case 301, 302, 303, 307, 308:
                guard let location = response.headers.first(name: "Location"), let next = address.resolving(location) else { return nil }
                address = next
            default: return nil
            }
        }
        return nil
    }

    private func permits(_ address: PageAddress) -> Bool {
        self.allowsAnyPort || address.port == (address.isSecure ? 443 : 80)
    }

    private static func isPage(_ type: String?) -> Bool {
        let name = type?.prefix { $0 != ";" }.lowercased().filter { !$0.isWhitespace }
        return name == "text/html" || name == "application/xhtml+xml"
    }

    private func exchange(_ address: PageAddress, timeout: Duration) async throws -> HTTPExchangeResponse {
        var request = HTTPExchangeRequest(
            .GET, address.target, headers: ["Accept": "text/html, application/xhtml+xml", "User-Agent": "Apus (link preview)"])
        request.acceptsCompression = false
        var dialer = Dialer(tls: self.tls)
        dialer.connectTimeout = self.connectionTimeout
        dialer.tlsTimeout = self.connectionTimeout
        let eventLoop = MultiThreadedEventLoopGroup.singleton.any()
        dialer.resolver = CheckedResolver(self.rules, on: eventLoop)
        var configuration = HTTPExchanger.Configuration(
            origin: HTTPOrigin(isSecure: address.isSecure, host: address.host, port: address.port), dialer: dialer)
        configuration.maximumConnections = 1
        configuration.maximumBodyBytes = Self.pageBytes
        configuration.cutsBody = true
        let client = HTTPExchangeClient(configuration: configuration, eventLoop: eventLoop)
        defer { client.finish() }
        return try await client.send(request, timeout: timeout)
    }
}

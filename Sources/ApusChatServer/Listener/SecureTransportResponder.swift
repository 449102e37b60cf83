import HTTPTypes
import Hummingbird
import NIOConcurrencyHelpers

/// The way in which a listener directs browsers from HTTP to HTTPS.
enum SecureTransport: Sendable {
    /// Handles requests unchanged.
    case unchanged
    /// Redirects requests to the HTTPS listener. The port is nil until that listener listens.
    case redirects(port: NIOLockedValueBox<Int?>)
    /// Instructs browsers to use HTTPS for the host for a year (RFC 6797).
    case strict

    /// Returns the host of an authority without its port; nil if it is not a host name or an
    /// address.
    static func host(of authority: String?) -> Substring? {
        guard let authority else { return nil }
        let host: Substring
        if authority.hasPrefix("[") {
            guard let end = authority.firstIndex(of: "]") else { return nil }
            host = authority[...end]
        } else {
            host = authority.prefix { $0 != ":" }
        }
        let isValid = host.utf8.allSatisfy { byte in
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "0")...UInt8(ascii: "9"),
                UInt8(ascii: "."), UInt8(ascii: "-"), UInt8(ascii: "_"), UInt8(ascii: "["), UInt8(ascii: "]"), UInt8(ascii: ":"):
                true
            default: false
            }
        }
        return host.isEmpty || !isValid ? nil : host
    }
}

/// Applies `SecureTransport` to all requests that the router handles, including those that fail.
struct SecureTransportResponder<Base: HTTPResponder>: HTTPResponder where Base.Context: RequestContext {
    let base: Base
    let transport: SecureTransport

    func respond(to request: Request, context: Base.Context) async throws -> Response {
        switch self.transport {
        case .unchanged: return try await self.base.respond(to: request, context: context)
        case .strict:
            var response = try await self.base.respond(to: request, context: context)
            response.headers[.strictTransportSecurity] = "max-age=31536000"
            return response
        case .redirects(let port):
            guard request.method == .get || request.method == .head, request.uri.path != "/health" else {
                return try await self.base.respond(to: request, context: context)
            }
            guard let port = port.withLockedValue({ $0 }), let host = SecureTransport.host(of: request.head.authority) else {
                return Response(status: .badRequest)
            }
            let path = request.head.path.flatMap { $0.hasPrefix("/") ? $0 : nil } ?? "/"
            let target = "https://\(host)\(port == 443 ? "" : ":\(port)")\(path)"
            return Response(status: .permanentRedirect, headers: [.location: target, .cacheControl: "no-store"])
        }
    }
}

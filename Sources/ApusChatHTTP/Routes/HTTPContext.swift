import ApusConnectivity
import ApusWebSocket
package import Hummingbird
package import NIOCore

/// The context of a request: its connection and the address of its client.
package struct HTTPContext: RequestContext {
    package var coreContext: CoreRequestContextStorage
    /// The connection of the request.
    package let channel: any Channel
    /// The address of the client.
    package var client: ClientOrigin

    package init(source: ApplicationRequestContextSource) {
        self.coreContext = .init(source: source)
        self.channel = source.channel
        self.client = ClientOrigin(source.channel.remoteAddress.flatMap(IPAddress.init))
    }
}

/// Replaces the address of a trusted proxy with the address of its client.
struct ClientOriginMiddleware: RouterMiddleware {
    typealias Context = HTTPContext
    let proxies: TrustedProxies

    func handle(_ request: Request, context: Context, next: (Request, Context) async throws -> Response) async throws -> Response {
        var context = context
        let address = self.proxies.clientAddress(of: request.head, from: context.channel.remoteAddress)
        context.client = ClientOrigin(address.flatMap { IPAddress($0) })
        return try await next(request, context)
    }
}

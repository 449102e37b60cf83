import ApusConnectivity
import ApusWebSocket
import HTTPTypes
import Hummingbird
import NIOCore

/// The context of a request: its connection and the address of its client.
struct ChatRequestContext: RequestContext {
    var coreContext: CoreRequestContextStorage
    /// The connection of the request.
    let channel: any Channel
    /// The key for counting attempts; nil for clients that cannot be distinguished.
    var address: String?

    init(source: ApplicationRequestContextSource) {
        self.coreContext = .init(source: source)
        self.channel = source.channel
        self.address = ClientAddress.key(of: source.channel.remoteAddress)
    }
}

/// Replaces the address of a proxy by that of its client.
struct ClientAddressMiddleware: RouterMiddleware {
    typealias Context = ChatRequestContext
    let proxies: TrustedProxies

    func handle(_ request: Request, context: Context, next: (Request, Context) async throws -> Response) async throws -> Response {
        var context = context
        context.address = self.proxies.clientKey(of: request.head, from: context.channel.remoteAddress)
        return try await next(request, context)
    }
}

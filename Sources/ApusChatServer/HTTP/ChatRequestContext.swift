import ApusConnectivity
import Hummingbird
import NIOCore

/// The connection of a request and the address of its client.
struct ChatRequestContext: RequestContext {
    var coreContext: CoreRequestContextStorage
    /// The connection of the request.
    let channel: any Channel
    /// Under what the client is counted; nil for those that cannot be told apart.
    let address: String?

    init(source: ApplicationRequestContextSource) {
        self.coreContext = .init(source: source)
        self.channel = source.channel
        self.address = ClientAddress.key(of: source.channel.remoteAddress)
    }
}

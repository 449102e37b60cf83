import ApusConnectivity
import Hummingbird

/// What a request brings along: who asks, as far as the network knows.
struct ChatRequestContext: RequestContext {
    var coreContext: CoreRequestContextStorage
    /// Under what the client is counted; nil for those that cannot be told apart.
    let address: String?

    init(source: ApplicationRequestContextSource) {
        self.coreContext = .init(source: source)
        self.address = ClientAddress.key(of: source.channel.remoteAddress)
    }
}

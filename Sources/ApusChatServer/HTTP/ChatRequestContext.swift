import ApusConnectivity
import Hummingbird
import NIOCore

/// The context of a request: its connection and the address of its client.
struct ChatRequestContext: RequestContext {
    var coreContext: CoreRequestContextStorage
    /// The connection of the request.
    let channel: any Channel
    /// The key for counting attempts; nil for clients that cannot be distinguished.
    let address: String?

    init(source: ApplicationRequestContextSource) {
        self.coreContext = .init(source: source)
        self.channel = source.channel
        self.address = ClientAddress.key(of: source.channel.remoteAddress)
    }
}

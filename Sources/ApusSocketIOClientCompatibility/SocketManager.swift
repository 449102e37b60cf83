public import ApusSocketIOClient
public import Foundation

/// One connection to a server, with the name of socket.io-client-swift.
public typealias SocketManager = SocketIOManager

extension SocketIOManager {
    /// Creates a manager with the options of socket.io-client-swift, without connecting.
    ///
    /// Listeners run on the main queue, unless ``SocketIOClientOption/handleQueue(_:)`` selects
    /// another one.
    ///
    /// - Parameters:
    ///   - socketURL: The scheme, host and port.
    ///   - config: The options. If an option is repeated, the last one applies.
    public convenience init(socketURL: URL, config: [SocketIOClientOption] = []) {
        self.init(url: socketURL.absoluteString, config: config)
    }

    /// Creates a manager with the options of socket.io-client-swift, from a URL in a string.
    ///
    /// - Parameters:
    ///   - url: The scheme, host and port.
    ///   - config: The options. If an option is repeated, the last one applies.
    public convenience init(url: String, config: [SocketIOClientOption]) {
        let options = SocketIOClientOptions(config)
        self.init(url: options.url(url), configuration: options.configuration, logger: options.logger)
    }
}

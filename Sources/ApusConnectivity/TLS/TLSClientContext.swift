import NIOConcurrencyHelpers
package import NIOCore
import NIOPosix
import NIOSSL

/// A TLS context created from ``TLSSettings``, with parsed certificates and keys.
///
/// Reading the system's roots takes milliseconds of disk access. Contexts are therefore created on
/// NIO's thread pool and cached, including their keys, for the ``cacheSize`` most recently used
/// settings and the lifetime of the process.
package struct TLSClientContext: Sendable {
    /// The cache key of a context.
    private struct Key: Hashable {
        var settings: TLSSettings
        var applicationProtocols: [String]
    }

    /// The maximum number of cached contexts.
    package static let cacheSize = 16

    /// The cached contexts, the most recently used first.
    private static let cache = NIOLockedValueBox<[(key: Key, context: NIOSSLContext)]>([])

    private let context: NIOSSLContext
    private let settings: TLSSettings
    private let host: String

    /// Returns a context for connections to `host`, from the cache or created on NIO's thread pool.
    ///
    /// - Parameters:
    ///   - settings: The TLS settings.
    ///   - host: The name or address in the URL. ``TLSSettings/serverName`` takes precedence.
    ///   - applicationProtocols: The protocols offered with ALPN (RFC 7301), the preferred one
    ///     first.
    ///   - eventLoop: The event loop of the future.
    package static func make(
        settings: TLSSettings, host: String?, applicationProtocols: [String], on eventLoop: any EventLoop
    ) -> EventLoopFuture<TLSClientContext> {
        let host = settings.serverName ?? host ?? ""
        if host.isEmpty {
            switch settings.verification {
            case .pinned, .insecureSkipVerification: break  // need no name
            case .system, .additionalAuthorities, .onlyAuthorities:
                return eventLoop.makeFailedFuture(
                    ConnectivityError(.invalidConfiguration, message: "TLS requires a name to verify; set `serverName`"))
            }
        }
        let key = Key(settings: settings, applicationProtocols: applicationProtocols)
        @Sendable func finished(_ context: NIOSSLContext) -> TLSClientContext {
            TLSClientContext(context: context, settings: settings, host: host)
        }
        if let known = Self.lookUp(key) { return eventLoop.makeSucceededFuture(finished(known)) }
        return NIOThreadPool.singleton.runIfActive(eventLoop: eventLoop) {
            let context = try Self.makeContext(key)
            Self.keep(context, for: key)
            return finished(context)
        }
    }

    /// Returns the handler and the peer checks for one connection.
    func makeHandler() throws(ConnectivityError) -> (NIOSSLClientHandler, TLSPeerCheck) {
        let check = TLSPeerCheck(settings: self.settings, host: self.host)
        // SNI does not permit IP addresses (RFC 6066 section 3).
        let name = self.host.isEmpty || IPAddress(self.host) != nil ? nil : self.host
        do {
            guard case .pinned = self.settings.verification else {
                return (try NIOSSLClientHandler(context: self.context, serverHostname: name), check)
            }
            let handler = try NIOSSLClientHandler(context: self.context, serverHostname: name) { chain, result in
                result.succeed(check.verifyPinned(chain))
            }
            return (handler, check)
        } catch {
            throw ConnectivityError(.invalidConfiguration, message: "\(self.host) is not a valid server name for TLS", cause: error)
        }
    }

    // MARK: Contexts

    private static func lookUp(_ key: Key) -> NIOSSLContext? {
        self.cache.withLockedValue { cache in
            guard let index = cache.firstIndex(where: { $0.key == key }) else { return nil }
            let found = cache.remove(at: index)
            cache.insert(found, at: 0)
            return found.context
        }
    }

    private static func keep(_ context: NIOSSLContext, for key: Key) {
        self.cache.withLockedValue { cache in
            cache.removeAll { $0.key == key }  // another connection may have created the same context
            cache.insert((key, context), at: 0)
            if cache.count > self.cacheSize { cache.removeLast() }
        }
    }

    private static func makeContext(_ key: Key) throws(ConnectivityError) -> NIOSSLContext {
        var configuration = try key.settings.makeConfiguration()
        configuration.applicationProtocols = key.applicationProtocols
        switch key.settings.verification {
        case .insecureSkipVerification: break
        case .pinned, .system, .additionalAuthorities, .onlyAuthorities:
            // `TLSPeerCheck` verifies the name more strictly (`CertificateFacts.isFor(host:)`).
            configuration.certificateVerification = .noHostnameVerification
        }
        do {
            return try NIOSSLContext(configuration: configuration)
        } catch {
            throw ConnectivityError(.invalidConfiguration, message: "TLS could not be set up", cause: error)
        }
    }
}

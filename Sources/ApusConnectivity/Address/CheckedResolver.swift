package import NIOCore
package import NIOPosix

#if canImport(Darwin)
    import Darwin
#elseif canImport(Musl)
    import Musl
#else
    import Glibc
#endif

/// Resolves names with the system's resolver, and returns only the addresses that the rules permit.
///
/// A dialer with this resolver connects only to the returned addresses, even if the host is an
/// address.
package final class CheckedResolver: Resolver, Sendable {
    /// No address of the name is permitted.
    package struct Refused: Error, CustomStringConvertible {
        package let host: String
        package var description: String { "\(self.host) has no address to which this server may connect" }
    }

    private let rules: AddressRules
    private let eventLoop: any EventLoop
    private let threads: NIOThreadPool
    private let lookUp: @Sendable (_ host: String, _ port: Int) throws -> [SocketAddress]

    /// - Parameters:
    ///   - threads: The threads of the look-ups, which block.
    ///   - lookUp: Returns the addresses of a name. Default: ``SystemNames/addresses(of:port:)``.
    package init(
        _ rules: AddressRules, on eventLoop: any EventLoop, threads: NIOThreadPool = .singleton,
        lookUp: @escaping @Sendable (_ host: String, _ port: Int) throws -> [SocketAddress] = {
            try SystemNames.addresses(of: $0, port: $1)
        }
    ) {
        self.rules = rules
        self.eventLoop = eventLoop
        self.threads = threads
        self.lookUp = lookUp
    }

    package func initiateAQuery(host: String, port: Int) -> EventLoopFuture<[SocketAddress]> {
        let (rules, lookUp) = (self.rules, self.lookUp)
        return self.threads.runIfActive(eventLoop: self.eventLoop) {
            let permitted = try lookUp(host, port).filter { IPAddress($0).map { rules.permit($0) } ?? false }
            guard !permitted.isEmpty else { throw Refused(host: host) }
            return permitted
        }
    }

    /// Returns no address, because ``initiateAQuery(host:port:)`` returns the addresses of both
    /// families.
    package func initiateAAAAQuery(host: String, port: Int) -> EventLoopFuture<[SocketAddress]> {
        self.eventLoop.makeSucceededFuture([])
    }

    package func cancelQueries() {}
}

/// Resolves names with the function `getaddrinfo` of the operating system.
package enum SystemNames {
    /// Returns at most 32 addresses of a name, in the order in which a client should try them (RFC
    /// 6724). Blocks the calling thread.
    ///
    /// - Throws: `nameResolution` if no address was found.
    package static func addresses(of host: String, port: Int) throws -> [SocketAddress] {
        var hints = addrinfo()
        #if canImport(Darwin) || canImport(Musl)
            hints.ai_socktype = SOCK_STREAM
        #else
            hints.ai_socktype = Int32(SOCK_STREAM.rawValue)
        #endif
        var list: UnsafeMutablePointer<addrinfo>?
        let result = getaddrinfo(host, String(port), &hints, &list)
        guard result == 0, let list else {
            throw ConnectivityError(
                .nameResolution, message: "no address was found for the name \(host) (\(String(cString: gai_strerror(result))))")
        }
        defer { freeaddrinfo(list) }
        var addresses: [SocketAddress] = []
        var next: UnsafeMutablePointer<addrinfo>? = list
        while let entry = next, addresses.count < 32 {
            if let address = entry.pointee.ai_addr {
                switch entry.pointee.ai_family {
                case AF_INET:
                    address.withMemoryRebound(to: sockaddr_in.self, capacity: 1) { addresses.append(SocketAddress($0.pointee, host: host)) }
                case AF_INET6:
                    address.withMemoryRebound(to: sockaddr_in6.self, capacity: 1) {
                        addresses.append(SocketAddress($0.pointee, host: host))
                    }
                default: break
                }
            }
            next = entry.pointee.ai_next
        }
        return addresses
    }
}

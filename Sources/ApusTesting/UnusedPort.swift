import NIOCore

#if canImport(Darwin)
    import Darwin
#elseif canImport(Musl)
    import Musl
#else
    import Glibc
#endif

/// A port of 127.0.0.1 that refuses connections. A socket that is bound to the port and does not
/// listen reserves it.
package final class UnusedPort: Sendable {
    package let number: Int
    private let descriptor: CInt

    package init() throws {
        #if canImport(Darwin) || canImport(Musl)
            let kind = SOCK_STREAM
        #else
            let kind = CInt(SOCK_STREAM.rawValue)
        #endif
        let descriptor = socket(AF_INET, kind, 0)
        let address = try SocketAddress(ipAddress: "127.0.0.1", port: 0)
        guard address.withSockAddr({ bind(descriptor, $0, socklen_t($1)) }) == 0 else {
            let code = errno
            close(descriptor)
            throw IOError(errnoCode: code, reason: "bind")
        }
        var storage = sockaddr_storage()
        var length = socklen_t(MemoryLayout<sockaddr_storage>.size)
        let status = withUnsafeMutablePointer(to: &storage) { storage in
            storage.withMemoryRebound(to: sockaddr.self, capacity: 1) { getsockname(descriptor, $0, &length) }
        }
        guard status == 0 else {
            let code = errno
            close(descriptor)
            throw IOError(errnoCode: code, reason: "getsockname")
        }
        self.descriptor = descriptor
        // On every system, the port is at offset 2 in network byte order.
        self.number = withUnsafeBytes(of: &storage) { Int($0[2]) << 8 | Int($0[3]) }
    }

    deinit { close(self.descriptor) }
}

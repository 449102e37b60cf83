#if os(Linux)
    import NIOCore

    #if canImport(Musl)
        import Musl
    #else
        import Glibc
    #endif

    /// Functions for routing sockets (rtnetlink).
    package enum NetlinkSocket {
        /// Opens a socket that receives notifications of links, addresses and routes in the network
        /// namespace of the calling thread.
        ///
        /// - Returns: A descriptor that the caller must close.
        package static func open() throws -> CInt {
            #if canImport(Musl)
                let kind = SOCK_RAW | SOCK_CLOEXEC | SOCK_NONBLOCK
            #else
                let kind = CInt(SOCK_RAW.rawValue) | CInt(SOCK_CLOEXEC.rawValue) | CInt(SOCK_NONBLOCK.rawValue)
            #endif
            let descriptor = socket(AF_NETLINK, kind, 0)  // NETLINK_ROUTE
            guard descriptor >= 0 else { throw IOError(errnoCode: errno, reason: "socket(AF_NETLINK)") }
            // struct sockaddr_nl: u16 family, u16 padding, u32 port (0: the kernel chooses), u32
            // groups
            let groups: UInt32 = 0x1 | 0x10 | 0x40 | 0x100 | 0x400  // links, addresses and routes of IPv4 and IPv6
            var address: (family: UInt16, padding: UInt16, port: UInt32, groups: UInt32) = (UInt16(AF_NETLINK), 0, 0, groups)
            let result = withUnsafeBytes(of: &address) { bytes in
                bytes.baseAddress.map { bind(descriptor, $0.assumingMemoryBound(to: sockaddr.self), socklen_t(bytes.count)) } ?? -1
            }
            guard result == 0 else {
                let code = errno
                self.close(descriptor)
                throw IOError(errnoCode: code, reason: "bind(AF_NETLINK)")
            }
            return descriptor
        }

        /// Returns a second descriptor for the same socket.
        static func duplicate(_ descriptor: CInt) throws -> CInt {
            let copy = fcntl(descriptor, F_DUPFD_CLOEXEC, 0)
            guard copy >= 0 else { throw IOError(errnoCode: errno, reason: "fcntl(F_DUPFD_CLOEXEC)") }
            return copy
        }

        static func close(_ descriptor: CInt) {
            #if canImport(Musl)
                _ = Musl.close(descriptor)
            #else
                _ = Glibc.close(descriptor)
            #endif
        }
    }
#endif

import NIOCore

/// A message from the kernel about links, addresses or routes. A message of an unknown type has the
/// content `other`.
///
/// Parsing performs no I/O and checks all lengths: any bytes result in a message or an error. The
/// layout and the numbers are those of `linux/netlink.h`, `linux/rtnetlink.h`, `linux/if_addr.h`
/// and `linux/if.h`, which Glibc's module does not export. They are part of the kernel's stable
/// interface.
///
/// Source: RFC 3549; netlink(7), rtnetlink(7).
struct NetlinkMessage: Equatable {
    /// An interface.
    struct Link: Hashable {
        var index: Int32
        var isLoopback: Bool
        /// Whether the interface is up and running (`IFF_UP`, `IFF_RUNNING`).
        var isUsable: Bool
    }

    /// An address of an interface.
    struct Address: Hashable {
        var index: Int32
        var bytes: [UInt8]
        /// Whether the address is valid beyond the link.
        var isGlobal: Bool
        /// Whether duplicate address detection has completed without a duplicate (RFC 4862).
        var isUsable: Bool
    }

    /// A default route.
    struct DefaultRoute: Hashable {
        var family: UInt8
        /// The index of the interface; 0 if several interfaces share the route.
        var index: Int32
        var gateway: [UInt8]
        var metric: UInt32
    }

    enum Content: Equatable {
        case link(Link, isGone: Bool)
        case address(Address, isGone: Bool)
        case defaultRoute(DefaultRoute, isGone: Bool)
        /// A route that is not a unicast default route.
        case otherRoute
        /// The end of a dump.
        case done
        /// An `errno` with which the kernel refuses a request; 0 is an acknowledgement.
        case error(Int32)
        /// The kernel has dropped messages.
        case overrun
        case other
    }

    struct Malformed: Error, Equatable {}

    /// The sequence number of the request that this message answers; 0 for a notification.
    var sequence: UInt32
    /// Whether the message is part of a dump (`NLM_F_MULTI`).
    var isPartOfDump: Bool
    /// Whether a change during the dump made it inconsistent (`NLM_F_DUMP_INTR`).
    var isInterrupted: Bool
    var content: Content

    private static let headerBytes = 16

    /// Reads the next message of a datagram; `nil` at its end.
    static func next(from buffer: inout ByteBuffer) throws(Malformed) -> NetlinkMessage? {
        guard buffer.readableBytes > 0 else { return nil }
        // struct nlmsghdr: u32 length with the header, u16 type, u16 flags, u32 sequence, u32 port
        guard buffer.readableBytes >= self.headerBytes, let length: UInt32 = buffer.integer(at: 0),
            let type: UInt16 = buffer.integer(at: 4),
            let flags: UInt16 = buffer.integer(at: 6), let sequence: UInt32 = buffer.integer(at: 8), length >= self.headerBytes,
            length <= buffer.readableBytes, let message = buffer.readSlice(length: Int(length))
        else { throw Malformed() }
        buffer.moveReaderIndex(forwardBy: min(self.padding(Int(length)), buffer.readableBytes))
        var payload = message
        payload.moveReaderIndex(forwardBy: self.headerBytes)
        return NetlinkMessage(
            sequence: sequence, isPartOfDump: flags & 0x02 != 0, isInterrupted: flags & 0x10 != 0,
            content: try self.content(type: type, payload))
    }

    private static func content(type: UInt16, _ payload: ByteBuffer) throws(Malformed) -> Content {
        switch type {
        case 2:  // NLMSG_ERROR: i32, negative
            guard let code: Int32 = payload.integer(at: 0) else { throw Malformed() }
            return .error(code == .min ? .max : abs(code))
        case 3: return .done
        case 4: return .overrun
        case 16, 17: return .link(try self.link(payload), isGone: type == 17)
        case 20, 21: return .address(try self.address(payload), isGone: type == 21)
        case 24, 25:
            guard let route = try self.route(payload) else { return .otherRoute }
            return .defaultRoute(route, isGone: type == 25)
        default: return .other
        }
    }

    private static func link(_ payload: ByteBuffer) throws(Malformed) -> Link {
        // struct ifinfomsg: u8 family, u8 pad, u16 type, i32 index, u32 flags, u32 change
        guard payload.readableBytes >= 16, let index: Int32 = payload.integer(at: 4), let flags: UInt32 = payload.integer(at: 8) else {
            throw Malformed()
        }
        let (up, loopback, running): (UInt32, UInt32, UInt32) = (0x1, 0x8, 0x40)
        return Link(index: index, isLoopback: flags & loopback != 0, isUsable: flags & (up | running) == up | running)
    }

    private static func address(_ payload: ByteBuffer) throws(Malformed) -> Address {
        // struct ifaddrmsg: u8 family, u8 prefix length, u8 flags, u8 scope, u32 index
        guard payload.readableBytes >= 8, let flags: UInt8 = payload.integer(at: 2), let scope: UInt8 = payload.integer(at: 3),
            let index: Int32 = payload.integer(at: 4)
        else { throw Malformed() }
        var (remote, local, allFlags): ([UInt8], [UInt8]?, UInt32) = ([], nil, UInt32(flags))
        try self.attributes(payload, after: 8) { type, value in
            switch type {
            case 1: remote = Array(value.readableBytesView)  // IFA_ADDRESS
            case 2: local = Array(value.readableBytesView)  // IFA_LOCAL: the local address of a point-to-point link
            case 8: allFlags = value.integer(at: 0) ?? allFlags  // IFA_FLAGS
            default: break
            }
        }
        let (duplicate, tentative): (UInt32, UInt32) = (0x08, 0x40)
        // Scopes below RT_SCOPE_LINK (253) are valid beyond the link.
        return Address(index: index, bytes: local ?? remote, isGlobal: scope < 253, isUsable: allFlags & (duplicate | tentative) == 0)
    }

    /// Returns `nil` for a route that is not a unicast default route.
    private static func route(_ payload: ByteBuffer) throws(Malformed) -> DefaultRoute? {
        // struct rtmsg: u8 family, u8 destination length, u8 source length, u8 tos, u8 table, u8
        // protocol, u8 scope, u8 type, u32 flags
        guard payload.readableBytes >= 12, let family: UInt8 = payload.integer(at: 0), let length: UInt8 = payload.integer(at: 1),
            let table: UInt8 = payload.integer(at: 4), let type: UInt8 = payload.integer(at: 7)
        else { throw Malformed() }
        var route = DefaultRoute(family: family, index: 0, gateway: [], metric: 0)
        try self.attributes(payload, after: 12) { attribute, value in
            switch attribute {
            case 4: route.index = value.integer(at: 0) ?? 0  // RTA_OIF
            case 5: route.gateway = Array(value.readableBytesView)  // RTA_GATEWAY
            case 6: route.metric = value.integer(at: 0) ?? 0  // RTA_PRIORITY
            default: break
            }
        }
        let (unicast, localTable): (UInt8, UInt8) = (1, 255)
        return length == 0 && type == unicast && table != localTable ? route : nil
    }

    /// Calls `body` with the type and value of each attribute.
    ///
    /// struct rtattr: u16 length including this header, u16 type (two bits are flags), the value,
    /// padding to 4 bytes.
    private static func attributes(
        _ payload: ByteBuffer, after fixed: Int, _ body: (UInt16, ByteBuffer) -> Void
    ) throws(Malformed) {
        var rest = payload
        rest.moveReaderIndex(forwardBy: fixed)
        while rest.readableBytes >= 4 {
            guard let length: UInt16 = rest.integer(at: 0), let type: UInt16 = rest.integer(at: 2), length >= 4,
                var attribute = rest.readSlice(length: Int(length))
            else { throw Malformed() }
            rest.moveReaderIndex(forwardBy: min(self.padding(Int(length)), rest.readableBytes))
            attribute.moveReaderIndex(forwardBy: 4)
            body(type & 0x3FFF, attribute)
        }
    }

    /// Returns the number of bytes up to the next multiple of 4.
    private static func padding(_ length: Int) -> Int { (4 - length % 4) % 4 }
}

extension ByteBuffer {
    /// Returns an integer in host byte order, at an offset from the reader index.
    fileprivate func integer<Integer: FixedWidthInteger>(at offset: Int) -> Integer? {
        self.getInteger(at: self.readerIndex + offset, endianness: .host)
    }
}

import ApusJSON

/// The sockets of one client by namespace. The usual case, one socket in `/`, needs no allocation
/// and no lookup.
struct SocketIOMembers {
    enum Member {
        /// The client's earlier connection is being closed. Leaves to `joining`, `joined` or
        /// `leaving`, or is removed.
        case returning
        /// A middleware check is running. Leaves to `joined` or `leaving`, or is removed.
        case joining(SocketIOServerSocket)
        /// The client left during the admission; removed when the admission ends. Until then it
        /// cannot send another CONNECT, so that a connection runs one check per namespace.
        case leaving
        case joined(SocketIOServerSocket)
    }

    /// The member of `/`.
    private(set) var root: Member?
    private var others: [UTF8Key: Member] = [:]

    var isEmpty: Bool { self.root == nil && self.others.isEmpty }

    var count: Int { (self.root == nil ? 0 : 1) + self.others.count }

    subscript(namespace: String) -> Member? {
        get { namespace == "/" ? self.root : self.others[UTF8Key(namespace)] }
        set { if namespace == "/" { self.root = newValue } else { self.others[UTF8Key(namespace)] = newValue } }
    }

    /// Returns the socket that is in the namespace; `nil` before its admission and after its end.
    @inline(__always)
    func joined(in namespace: String) -> SocketIOServerSocket? {
        if namespace == "/" {
            if case .joined(let socket) = self.root { socket } else { nil }
        } else {
            if case .joined(let socket) = self.others[UTF8Key(namespace)] { socket } else { nil }
        }
    }

    /// All members, in no particular order.
    var all: [Member] { (self.root.map { [$0] } ?? []) + self.others.values }

    /// The sockets that are in their namespace.
    var joined: [SocketIOServerSocket] {
        self.all.compactMap { if case .joined(let socket) = $0 { socket } else { nil } }
    }
}

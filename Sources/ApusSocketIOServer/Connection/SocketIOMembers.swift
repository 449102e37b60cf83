import ApusJSON

/// The sockets of one client by namespace: nearly always one, in `/`, for which nothing is allocated or looked up.
struct SocketIOMembers {
    enum Member {
        /// The connection that the client has left is being ended. Leaves to `joining`, `joined` or `leaving`, or is removed.
        case returning
        /// Middleware is judging. Leaves to `joined` or `leaving`, or is removed.
        case joining(SocketIOServerSocket)
        /// The client left while that was under way; removed when that ends. Until then it cannot ask again, so that one connection
        /// has one check a namespace.
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

    /// All of them, in no order.
    var all: [Member] { (self.root.map { [$0] } ?? []) + self.others.values }

    /// Those that are in their namespace.
    var joined: [SocketIOServerSocket] {
        self.all.compactMap { if case .joined(let socket) = $0 { socket } else { nil } }
    }
}

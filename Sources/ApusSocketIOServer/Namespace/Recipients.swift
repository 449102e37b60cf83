import NIOCore

/// The sockets of a namespace, grouped by event loop. A broadcast iterates over arrays and
/// schedules one task per event loop.
struct Recipients {
    /// The sockets of one event loop.
    struct Group: Sendable {
        let eventLoop: any EventLoop
        fileprivate(set) var sockets: [SocketIOServerSocket] = []

        /// Calls `body` for each socket, on the event loop.
        func forEach(_ body: @escaping @Sendable (SocketIOServerSocket) -> Void) {
            self.sockets.first?.session.runOnLoop(delivering: self.sockets.count) { for socket in self.sockets { body(socket) } }
        }
    }

    private(set) var groups: [Group] = []

    /// Groups the sockets, which must not repeat, by event loop.
    init(_ sockets: some Sequence<SocketIOServerSocket> = []) {
        for socket in sockets { self.groups[self.group(of: socket)].sockets.append(socket) }
    }

    /// Adds a socket and stores its index in the socket. A socket may be added to one mutable
    /// instance only, the namespace's.
    mutating func add(_ socket: SocketIOServerSocket) {
        let group = self.group(of: socket)
        socket.indexInRecipients = self.groups[group].sockets.count
        self.groups[group].sockets.append(socket)
    }

    mutating func remove(_ socket: SocketIOServerSocket) {
        let (group, place) = (self.group(of: socket), socket.indexInRecipients)
        guard self.groups[group].sockets.indices.contains(place), self.groups[group].sockets[place] === socket else { return }
        let last = self.groups[group].sockets.removeLast()
        guard last !== socket else { return }
        last.indexInRecipients = place
        self.groups[group].sockets[place] = last
    }

    /// A linear search: a process has few event loops.
    private mutating func group(of socket: SocketIOServerSocket) -> Int {
        if let known = self.groups.firstIndex(where: { $0.eventLoop === socket.eventLoop }) { return known }
        self.groups.append(Group(eventLoop: socket.eventLoop))
        return self.groups.count - 1
    }

    /// Returns a copy without these sockets.
    func without(_ excluded: [SocketIOServerSocket]) -> Recipients {
        let excluded = Set(excluded.map { ObjectIdentifier($0) })
        guard !excluded.isEmpty else { return self }
        var copy = self
        for index in copy.groups.indices { copy.groups[index].sockets.removeAll { excluded.contains(ObjectIdentifier($0)) } }
        return copy
    }
}

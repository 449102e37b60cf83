import NIOCore

/// Determines the machine's network path: requests a dump of all links, addresses and routes, and
/// repeats the dump after notifications.
///
/// Does not apply notifications incrementally, because the kernel does not send all of them: when
/// an interface goes down, its IPv4 routes disappear without a notification. Performs no I/O; the
/// shell sends the requests and owns the timer.
struct NetlinkPathStateMachine {
    /// The dumps, in the order of their requests.
    enum Dump: UInt16, Equatable {
        case links = 18  // RTM_GETLINK
        case addresses = 22  // RTM_GETADDR
        case routes = 26  // RTM_GETROUTE
    }

    private enum State: Equatable {
        /// No request was sent. Transitions to `dumping`.
        case idle
        /// A dump is being received. Transitions to `dumping` (the next), `resting` or `known`.
        case dumping(Dump, isStale: Bool)
        /// The path is known. Transitions to `resting` (notification).
        case known
        /// A notification arrived and a timer runs, so that a burst of notifications causes one
        /// round of dumps. Transitions to `dumping`.
        case resting
    }

    /// The maximum number of entries kept of each kind. Further entries are ignored.
    private static let maximumEntries = 4096

    private var state = State.idle
    private var sequence: UInt32 = 0
    private var links: [Int32: NetlinkMessage.Link] = [:]
    private var addresses: Set<NetlinkMessage.Address> = []
    private var routes: Set<NetlinkMessage.DefaultRoute> = []

    init() {}

    enum Action: Equatable {
        /// Send this request.
        case request(ByteBuffer)
        /// Report the current path.
        case report(NetworkPath)
        /// Report this path, which may be outdated, and call ``timerFired()`` after a pause.
        case reportAndStartTimer(NetworkPath)
        /// Call ``timerFired()`` after a pause.
        case startTimer
        /// The kernel refused a request or the end of a dump may be lost: close the socket and open
        /// another.
        case reopen
        case doNothing
    }

    /// Handles the opening of the socket.
    mutating func opened() -> Action { self.begin() }

    /// Handles the timer that delays the next dump.
    mutating func timerFired() -> Action {
        switch self.state {
        case .resting: return self.begin()
        case .idle, .dumping, .known: return .doNothing  // the timer is not running
        }
    }

    /// Handles an unreadable datagram or the loss of messages.
    mutating func lost() -> Action {
        switch self.state {
        case .known:
            self.state = .resting
            return .startTimer
        case .dumping(let dump, _):
            // The end of the dump may be among the lost messages: only a new socket is reliable.
            self.state = .dumping(dump, isStale: true)
            return .reopen
        case .idle, .resting: return .doNothing
        }
    }

    /// Handles a message.
    mutating func receivedMessage(_ message: NetlinkMessage) -> Action {
        if case .dumping(let dump, let isStale) = self.state, message.sequence == self.sequence {
            if case .error(let code) = message.content { return code == 0 ? .doNothing : .reopen }
            if message.isPartOfDump {
                if message.isInterrupted { self.state = .dumping(dump, isStale: true) }
                return self.collect(message, dump, isStale: isStale || message.isInterrupted)
            }
        }
        switch message.content {
        case .link, .address, .defaultRoute: return self.notified()
        case .overrun: return self.lost()
        case .otherRoute, .done, .error, .other: return .doNothing  // irrelevant for the path
        }
    }

    private mutating func notified() -> Action {
        switch self.state {
        case .known:
            self.state = .resting
            return .startTimer
        case .dumping(let dump, _):
            self.state = .dumping(dump, isStale: true)
            return .doNothing
        case .idle, .resting: return .doNothing
        }
    }

    // MARK: Dumps

    private mutating func begin() -> Action {
        self.links = [:]
        self.addresses = []
        self.routes = []
        return self.request(.links, isStale: false)
    }

    private mutating func request(_ dump: Dump, isStale: Bool) -> Action {
        self.state = .dumping(dump, isStale: isStale)
        self.sequence = self.sequence == .max ? 1 : self.sequence + 1  // 0 marks notifications
        // nlmsghdr, then the zeroed structure of the dump, which selects any family without a
        // filter
        let body = dump == .links ? 16 : dump == .addresses ? 8 : 12
        var request = ByteBuffer()
        request.writeInteger(UInt32(16 + body), endianness: .host)
        request.writeInteger(dump.rawValue, endianness: .host)
        request.writeInteger(UInt16(0x301), endianness: .host)  // NLM_F_REQUEST, NLM_F_DUMP
        request.writeInteger(self.sequence, endianness: .host)
        request.writeInteger(UInt32(0), endianness: .host)
        request.writeRepeatingByte(0, count: body)
        return .request(request)
    }

    private mutating func collect(_ message: NetlinkMessage, _ dump: Dump, isStale: Bool) -> Action {
        switch message.content {
        case .link(let link, _):
            if self.links.count < Self.maximumEntries { self.links[link.index] = link }
        case .address(let address, _):
            if self.addresses.count < Self.maximumEntries { self.addresses.insert(address) }
        case .defaultRoute(let route, _):
            if self.routes.count < Self.maximumEntries { self.routes.insert(route) }
        case .done:
            switch dump {
            case .links: return self.request(.addresses, isStale: isStale)
            case .addresses: return self.request(.routes, isStale: isStale)
            case .routes: return self.finish(isStale: isStale)
            }
        case .otherRoute, .error, .overrun, .other: break
        }
        return .doNothing
    }

    private mutating func finish(isStale: Bool) -> Action {
        self.state = isStale ? .resting : .known
        return isStale ? .reportAndStartTimer(self.path) : .report(self.path)
    }

    private var path: NetworkPath {
        func isUsable(_ index: Int32) -> Bool { self.links[index].map { $0.isUsable && !$0.isLoopback } ?? false }
        // Index 0: several interfaces share the route, which counts as usable.
        let routes = self.routes.filter { $0.index == 0 || isUsable($0.index) }
        let addresses = self.addresses.filter { $0.isGlobal && $0.isUsable && isUsable($0.index) }
        let lines =
            routes.map { "default via \(Self.text($0.gateway)) dev \($0.index) metric \($0.metric) family \($0.family)" }.sorted()
            + addresses.map { "\(Self.text($0.bytes)) dev \($0.index)" }.sorted()
        return NetworkPath(
            isSatisfied: !routes.isEmpty || !addresses.isEmpty, hasDefaultRoute: !routes.isEmpty, fingerprint: lines.joined(separator: ", ")
        )
    }

    private static func text(_ bytes: [UInt8]) -> String {
        if bytes.count == 4 { return bytes.map { String($0) }.joined(separator: ".") }
        return bytes.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
    }
}

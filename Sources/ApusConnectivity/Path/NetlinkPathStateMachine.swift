import NIOCore

/// Learns the machine's path from the kernel: asks for all links, addresses and routes, and again whenever news come.
///
/// News are not applied one by one, because the kernel does not tell all of them: when an interface is switched off, its IPv4 routes go
/// without a word. Pure; the shell sends the requests and owns the timer.
struct NetlinkPathStateMachine {
    /// What one request asks for, in the order they are asked.
    enum Dump: UInt16, Equatable {
        case links = 18  // RTM_GETLINK
        case addresses = 22  // RTM_GETADDR
        case routes = 26  // RTM_GETROUTE
    }

    private enum State: Equatable {
        /// Nothing was asked. Leaves to `dumping`.
        case idle
        /// The answer to a request comes in. Leaves to `dumping` (the next), `resting` or `known`.
        case dumping(Dump, isStale: Bool)
        /// Everything is known. Leaves to `resting` (news).
        case known
        /// News came; a timer runs, so that a burst of them costs one round. Leaves to `dumping`.
        case resting
    }

    /// Entries of each kind that are looked at. A machine with more has a route anyway.
    private static let maximumEntries = 4096

    private var state = State.idle
    private var sequence: UInt32 = 0
    private var links: [Int32: NetlinkMessage.Link] = [:]
    private var addresses: Set<NetlinkMessage.Address> = []
    private var routes: Set<NetlinkMessage.DefaultRoute> = []

    init() {}

    enum Action: Equatable {
        /// Send this.
        case request(ByteBuffer)
        /// The path is this now. Then wait for news.
        case report(NetworkPath)
        /// The path was this, but something has changed since: call ``timerFired()`` after a pause.
        case reportAndStartTimer(NetworkPath)
        /// Call ``timerFired()`` after a pause.
        case startTimer
        /// The kernel refuses to answer: close the socket, and begin anew with another.
        case reopen
        case doNothing
    }

    /// The socket is open.
    mutating func opened() -> Action { self.begin() }

    /// The pause is over.
    mutating func timerFired() -> Action {
        switch self.state {
        case .resting: return self.begin()
        case .idle, .dumping, .known: return .doNothing  // a timer of a socket before this one
        }
    }

    /// A datagram could not be read or messages were lost.
    mutating func lost() -> Action {
        switch self.state {
        case .known:
            self.state = .resting
            return .startTimer
        case .dumping(let dump, _):
            // The end of the dump may be among what was lost: only another socket is sure.
            self.state = .dumping(dump, isStale: true)
            return .reopen
        case .idle, .resting: return .doNothing
        }
    }

    /// A message came.
    mutating func received(_ message: NetlinkMessage) -> Action {
        if case .dumping(let dump, let isStale) = self.state, message.sequence == self.sequence {
            if case .error(let code) = message.content { return code == 0 ? .doNothing : .reopen }
            if message.isPartOfDump {
                if message.isInterrupted { self.state = .dumping(dump, isStale: true) }
                return self.collect(message, dump, isStale: isStale || message.isInterrupted)
            }
        }
        switch message.content {
        case .link, .address, .defaultRoute: return self.news()
        case .overrun: return self.lost()
        case .narrowRoute, .done, .error, .other: return .doNothing  // not ours, or of no consequence
        }
    }

    private mutating func news() -> Action {
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
        return self.ask(.links, isStale: false)
    }

    private mutating func ask(_ dump: Dump, isStale: Bool) -> Action {
        self.state = .dumping(dump, isStale: isStale)
        self.sequence = self.sequence == .max ? 1 : self.sequence + 1  // 0 means news
        // nlmsghdr, then a body of zeros (any family, nothing left out) of the length of the kind's structure
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
            case .links: return self.ask(.addresses, isStale: isStale)
            case .addresses: return self.ask(.routes, isStale: isStale)
            case .routes: return self.finish(isStale: isStale)
            }
        case .narrowRoute, .error, .overrun, .other: break
        }
        return .doNothing
    }

    private mutating func finish(isStale: Bool) -> Action {
        self.state = isStale ? .resting : .known
        return isStale ? .reportAndStartTimer(self.path) : .report(self.path)
    }

    private var path: NetworkPath {
        func isUsable(_ index: Int32) -> Bool { self.links[index].map { $0.isUsable && !$0.isLoopback } ?? false }
        // Index 0: several interfaces share the route; taken as one that works.
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

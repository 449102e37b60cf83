/// Counts connections, in all and by address, and says who is let in. Pure.
///
/// An Engine.IO server counts its sessions with it, whatever carries them.
///
/// A connection is counted twice over: as a transport from its first byte on, as a WebSocket once its handshake is accepted. The transports'
/// bound is a little higher than the WebSockets', so that there is room to tell those who are refused why.
package struct WebSocketAdmission: Sendable {
    /// Transports above the caps that may be there for the time of a handshake: in all, and from one address.
    static let lobby = 1024
    static let lobbyPerAddress = 64

    /// What one address has.
    private struct Count: Sendable {
        var transports = 0
        var webSockets = 0
    }

    package enum Refusal: Equatable {
        /// 503: the server is full, for everybody.
        case full
        /// 429: this address has its share.
        case addressFull
        /// 503: the server goes down.
        case draining
    }

    let maximumConnections: Int
    let maximumConnectionsPerAddress: Int
    private var total = Count()
    private var addresses: [String: Count] = [:]
    private(set) var isDraining = false

    package init(maximumConnections: Int, maximumConnectionsPerAddress: Int) {
        self.maximumConnections = maximumConnections
        self.maximumConnectionsPerAddress = maximumConnectionsPerAddress
    }

    /// The WebSockets that are open, or being opened.
    var webSocketCount: Int { self.total.webSockets }

    /// The transports that are open.
    var transportCount: Int { self.total.transports }

    // MARK: Transports

    /// A connection was accepted. `false`: close it at once, it is not counted.
    package mutating func transportOpened(from address: String?) -> Bool {
        guard !self.isDraining, self.total.transports < Self.sum(self.maximumConnections, Self.lobby) else { return false }
        if let address {
            let count = self.addresses[address]?.transports ?? 0
            guard count < Self.sum(self.maximumConnectionsPerAddress, Self.lobbyPerAddress) else { return false }
            self.addresses[address, default: Count()].transports += 1
        }
        self.total.transports += 1
        return true
    }

    package mutating func transportClosed(from address: String?) {
        self.total.transports -= 1
        self.change(address) { $0.transports -= 1 }
    }

    // MARK: WebSockets

    /// A handshake is in order. `nil`: it is let in, and counted until ``webSocketClosed(from:)``.
    package mutating func webSocketOpening(from address: String?) -> Refusal? {
        guard !self.isDraining else { return .draining }
        guard self.total.webSockets < self.maximumConnections else { return .full }
        if let address {
            guard (self.addresses[address]?.webSockets ?? 0) < self.maximumConnectionsPerAddress else { return .addressFull }
            self.addresses[address, default: Count()].webSockets += 1
        }
        self.total.webSockets += 1
        return nil
    }

    package mutating func webSocketClosed(from address: String?) {
        self.total.webSockets -= 1
        self.change(address) { $0.webSockets -= 1 }
    }

    /// Nobody is let in any more.
    package mutating func drain() {
        self.isDraining = true
    }

    /// An address with nothing left is forgotten: the table must not grow with everybody who ever came.
    private mutating func change(_ address: String?, _ body: (inout Count) -> Void) {
        guard let address, var count = self.addresses[address] else { return }
        body(&count)
        self.addresses[address] = count.transports > 0 || count.webSockets > 0 ? count : nil
    }

    /// The addresses that are counted at present.
    var addressCount: Int { self.addresses.count }

    private static func sum(_ bound: Int, _ extra: Int) -> Int {
        let (sum, overflow) = bound.addingReportingOverflow(extra)
        return overflow ? .max : sum
    }
}

/// Counts connections, in total and by address, and admits or refuses new ones. Performs no I/O.
package struct ConnectionQuota: Sendable {
    /// The reason for refusing a connection.
    package enum Refusal: Equatable, Sendable {
        /// The server has the maximum number of connections.
        case full
        /// The address has the maximum number of connections.
        case addressFull
        /// The server is shutting down.
        case draining
    }

    package let maximum: Int
    package let maximumPerAddress: Int
    /// The number of open connections.
    package private(set) var count = 0
    private var addresses: [String: Int] = [:]
    package private(set) var isDraining = false

    package init(maximum: Int, maximumPerAddress: Int) {
        self.maximum = maximum
        self.maximumPerAddress = maximumPerAddress
    }

    /// Returns a quota of TCP connections for a maximum number of clients.
    ///
    /// The quota admits more TCP connections than clients, so that the server can send a refused
    /// client the reason.
    package static func channels(for maximum: Int, perAddress: Int) -> Self {
        .init(maximum: Self.sum(maximum, Self.lobby), maximumPerAddress: Self.sum(perAddress, Self.handshakeAllowancePerAddress))
    }

    /// The number of TCP connections for handshakes beyond the maximum number of clients, in total
    /// and for each address.
    static let lobby = 1024
    static let handshakeAllowancePerAddress = 64

    /// The number of addresses with open connections.
    package var addressCount: Int { self.addresses.count }

    /// Admits or refuses a new connection.
    ///
    /// - Parameter address: The key of the peer (``ClientAddress``); `nil` counts in the total
    ///   only.
    /// - Returns: `nil` if the connection is admitted. An admitted connection is counted until
    ///   ``closed(from:)``.
    package mutating func opened(from address: String?) -> Refusal? {
        guard !self.isDraining else { return .draining }
        guard self.count < self.maximum else { return .full }
        if let address {
            let count = self.addresses[address] ?? 0
            guard count < self.maximumPerAddress else { return .addressFull }
            self.addresses[address] = count + 1
        }
        self.count += 1
        return nil
    }

    package mutating func closed(from address: String?) {
        self.count -= 1
        // Removes an address without connections, so that the table does not grow without limit.
        guard let address, let count = self.addresses[address] else { return }
        self.addresses[address] = count > 1 ? count - 1 : nil
    }

    /// Refuses all new connections from now on.
    package mutating func drain() {
        self.isDraining = true
    }

    private static func sum(_ bound: Int, _ extra: Int) -> Int {
        let (sum, overflow) = bound.addingReportingOverflow(extra)
        return overflow ? .max : sum
    }
}

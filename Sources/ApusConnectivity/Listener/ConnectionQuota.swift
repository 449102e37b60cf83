/// Counts connections, in all and by address, and says who is let in. Pure.
package struct ConnectionQuota: Sendable {
    package enum Refusal: Equatable, Sendable {
        /// The server is full, for everybody.
        case full
        /// This address has its share.
        case addressFull
        /// The server goes down.
        case draining
    }

    package let maximum: Int
    package let maximumPerAddress: Int
    /// How many are counted.
    package private(set) var count = 0
    private var addresses: [String: Int] = [:]
    package private(set) var isDraining = false

    package init(maximum: Int, maximumPerAddress: Int) {
        self.maximum = maximum
        self.maximumPerAddress = maximumPerAddress
    }

    /// A quota of transports for so many connections.
    ///
    /// It is a little higher than theirs, so that there is room to tell those who are refused why.
    package static func transports(for maximum: Int, perAddress: Int) -> Self {
        .init(maximum: Self.sum(maximum, Self.lobby), maximumPerAddress: Self.sum(perAddress, Self.lobbyPerAddress))
    }

    /// Transports that may be there above their connections, for the time of a handshake.
    static let lobby = 1024
    static let lobbyPerAddress = 64

    /// The addresses that are counted at present.
    package var addressCount: Int { self.addresses.count }

    /// Somebody came. `nil`: let in, and counted until ``closed(from:)``.
    ///
    /// - Parameter address: The key of the peer (``ClientAddress``); `nil` counts in all only.
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
        // An address with nothing left is forgotten: the table must not grow with everybody who ever came.
        guard let address, let count = self.addresses[address] else { return }
        self.addresses[address] = count > 1 ? count - 1 : nil
    }

    /// Nobody is let in any more.
    package mutating func drain() {
        self.isDraining = true
    }

    private static func sum(_ bound: Int, _ extra: Int) -> Int {
        let (sum, overflow) = bound.addingReportingOverflow(extra)
        return overflow ? .max : sum
    }
}

/// Counts connections, in all and by address, and says who is let in. Pure.
struct FramedAdmission {
    let maximumConnections: Int
    let maximumConnectionsPerAddress: Int
    private(set) var count = 0
    private var addresses: [String: Int] = [:]
    private(set) var isDraining = false

    init(maximumConnections: Int, maximumConnectionsPerAddress: Int) {
        self.maximumConnections = maximumConnections
        self.maximumConnectionsPerAddress = maximumConnectionsPerAddress
    }

    /// The addresses that are counted at present.
    var addressCount: Int { self.addresses.count }

    /// A connection was accepted. `false`: close it at once, it is not counted.
    mutating func opened(from address: String?) -> Bool {
        guard !self.isDraining, self.count < self.maximumConnections else { return false }
        if let address {
            let count = self.addresses[address] ?? 0
            guard count < self.maximumConnectionsPerAddress else { return false }
            self.addresses[address] = count + 1
        }
        self.count += 1
        return true
    }

    mutating func closed(from address: String?) {
        self.count -= 1
        // An address with nothing left is forgotten: the table must not grow with everybody who ever came.
        guard let address, let count = self.addresses[address] else { return }
        self.addresses[address] = count > 1 ? count - 1 : nil
    }

    /// Nobody is let in any more.
    mutating func drain() {
        self.isDraining = true
    }
}

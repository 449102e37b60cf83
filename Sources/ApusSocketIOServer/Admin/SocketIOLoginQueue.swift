/// The number of running and waiting logins. It is limited in total and per address, so that one
/// attacker does not block all other clients.
package struct SocketIOLoginQueue: Sendable {
    private let maximum: Int
    private let maximumPerAddress: Int
    private var countByAddress: [String: Int] = [:]
    private var count = 0

    package init(maximum: Int = 16, maximumPerAddress: Int = 4) {
        self.maximum = maximum
        self.maximumPerAddress = maximumPerAddress
    }

    /// Adds a login. Returns `false` when a limit is reached.
    ///
    /// - Parameter address: The key under which the client's connections are counted. Clients
    ///   without one share a count.
    package mutating func enter(from address: String?) -> Bool {
        let address = address ?? ""
        guard self.count < self.maximum, self.countByAddress[address, default: 0] < self.maximumPerAddress else { return false }
        self.count += 1
        self.countByAddress[address, default: 0] += 1
        return true
    }

    /// Removes a login that was added.
    package mutating func leave(from address: String?) {
        let address = address ?? ""
        self.count -= 1
        self.countByAddress[address, default: 0] -= 1
        if self.countByAddress[address] == 0 { self.countByAddress[address] = nil }
    }
}

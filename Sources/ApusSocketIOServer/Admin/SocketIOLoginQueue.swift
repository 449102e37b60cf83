/// How many logins may be judged or wait for it: altogether, and from one address, so that one guesser does not keep everybody else out.
package struct SocketIOLoginQueue: Sendable {
    private let maximum: Int
    private let maximumPerAddress: Int
    private var countByAddress: [String: Int] = [:]
    private var count = 0

    package init(maximum: Int = 16, maximumPerAddress: Int = 4) {
        self.maximum = maximum
        self.maximumPerAddress = maximumPerAddress
    }

    /// A login begins. `false`: there are too many.
    ///
    /// - Parameter address: Who it is, by the name under which clients are counted; the unnamed are one.
    package mutating func enter(from address: String?) -> Bool {
        let address = address ?? ""
        guard self.count < self.maximum, self.countByAddress[address, default: 0] < self.maximumPerAddress else { return false }
        self.count += 1
        self.countByAddress[address, default: 0] += 1
        return true
    }

    /// A login that entered has ended.
    package mutating func leave(from address: String?) {
        let address = address ?? ""
        self.count -= 1
        self.countByAddress[address, default: 0] -= 1
        if self.countByAddress[address] == 0 { self.countByAddress[address] = nil }
    }
}

import ApusChatProtocol
import ApusChatStorage

/// The users of a run, with their devices.
struct Population {
    static let userCount = 50

    var users: [UserKey] = []
    /// The names, in the order of `users`.
    var names: [UserName] = []
    var own: [UserKey: ConversationKey] = [:]
    /// The user of each device.
    var devices: [UserKey] = []

    init(_ generator: SeededGenerator) {
        for number in 1...Int64(Self.userCount) {
            let user = UserKey(number)
            self.users.append(user)
            self.names.append(UserName(prepared: "user\(number)"))
            self.own[user] = ConversationKey(1_000 + number)
            for _ in 0..<2 + generator.below(2) { self.devices.append(user) }
        }
    }

    func addAccounts(to storage: MemoryStorage, at time: Int64) {
        for (user, name) in zip(self.users, self.names) {
            guard let own = self.own[user] else { continue }
            storage.addAccount(AccountRow(key: user, name: name, nickname: name.rawValue, selfConversation: own), at: time)
        }
    }
}

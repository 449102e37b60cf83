import ApusChatCore
import ApusChatProtocol
import ApusChatStorage

// What the server does by itself.
extension Server {
    /// Removes the content of messages whose time is over.
    func expire() {
        let time = self.stamps.stamp(wall: self.clock.wall, monotonic: self.clock.monotonic)
        // After a jump of the clock nothing is deleted because of its age.
        guard self.stamps.isTrusted else { return }
        let due = self.storage.expired(at: time, limit: 50)
        if !due.isEmpty { self.blank(due) }
    }

    /// Removes the content of the messages of a conversation that are older than the operator keeps
    /// them.
    func retain(_ key: ConversationKey, milliseconds: Int64) {
        let time = self.stamps.stamp(wall: self.clock.wall, monotonic: self.clock.monotonic)
        guard self.stamps.isTrusted else { return }
        let old = self.storage.events(of: key, before: time - milliseconds, limit: 10)
        if !old.isEmpty { self.blank(old) }
    }

    private func blank(_ targets: [EventAddress]) {
        self.run(Command(actor: UserKey(0), device: DeviceKey(0), request: nil, action: .blank(targets, .expired)))
    }

    /// The data is restored from a copy of itself: every token and every cache of a device is void.
    func renewEpoch() {
        self.storage.epoch = "epoch-\(self.clock.monotonic)"
        self.restart()
    }
}

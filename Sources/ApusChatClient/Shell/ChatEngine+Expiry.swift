import ApusChatCore
import ApusChatProtocol

extension ChatEngine {
    /// The longest delay until the next look at the clock, which the user can set.
    private static let maximumDelay: Int64 = 3_600_000

    /// Removes messages at a time, unless that is planned for an earlier one.
    func planExpiry(at time: Int64?) {
        guard let time, self.state != .closed, time < self.plannedExpiry ?? .max else { return }
        self.plannedExpiry = time
        let now = self.store.now()
        let delay = time > now ? min(time - now, Self.maximumDelay) : 0
        self.start {
            guard (try? await self.environment.sleep(.milliseconds(delay))) != nil else { return }
            await self.expire(plannedAt: time)
        }
    }

    private func expire(plannedAt time: Int64) {
        // A later plan has taken the place of this one.
        guard self.plannedExpiry == time else { return }
        self.plannedExpiry = nil
        let now = self.store.now()
        if time <= now { self.carryOut(self.core.expire(at: now)) }
        self.planNextExpiry()
    }

    /// The server told its time, by which messages disappear.
    func take(serverTime time: Int64) {
        self.store.setServerTime(time)
        self.plannedExpiry = nil
        self.planNextExpiry()
    }

    private func planNextExpiry() {
        let stored = self.storing { () throws(ChatClientError) in try self.store.nextExpiry() }
        let next = [stored.flatMap { $0 }, self.core.nextPreviewExpiry].compactMap { $0 }.min()
        self.planExpiry(at: next)
    }
}

import ApusChatCore
import ApusChatProtocol
import ApusChatStorage
import DequeModule

// The end of a run: the faults stop, all data is delivered, and each device requests the missing
// data.
extension Simulation {
    func settle() {
        self.note("the faults end")
        self.server.isLossy = false
        for connection in self.connections {
            connection.isCut = false
            connection.isSlow = false
        }
        guard self.erase() else { return self.server.faults.append("a deleted account is not erased") }
        for _ in 0..<6 {
            for device in self.devices where !device.isRetired {
                if device.connection != nil { self.disconnect(device) }
                self.connect(device)
            }
            guard self.drain() else { return self.server.faults.append("the run does not settle") }
            if self.devices.allSatisfy({ $0.isRetired || $0.outbox.isEmpty && $0.changes.isEmpty && $0.connection != nil }) {
                self.checkHoles()
                return self.scrollBack()
            }
        }
        self.server.faults.append("messages and changes are not answered")
    }

    /// Delivers all data and fires all timers until none remain. Returns false if this does not
    /// end.
    private func drain() -> Bool {
        for _ in 0..<20_000 {
            guard self.server.faults.isEmpty else { return true }
            self.moveTraffic(visits: .max, all: true)
            self.server.serveReads(64)
            while self.server.sequencer.count > 0 { self.server.writeBatch() }
            if self.connections.contains(where: \.hasTraffic) || self.server.reads.count > 0 || !self.server.snapshots.isEmpty { continue }
            guard let due = self.agenda.firstDue else { return true }
            self.clock.advance(max(0, due - self.clock.monotonic))
            self.fireTimers()
        }
        return false
    }

    /// Makes the server finish the erasure of deleted accounts. Returns false if the erasure does
    /// not end.
    private func erase() -> Bool {
        for _ in 0..<2_000 {
            guard self.server.faults.isEmpty, !self.server.storage.deletedAccounts(limit: 1).isEmpty else { return true }
            // A server that does not trust its clock erases no messages.
            if !self.server.stamps.isTrusted { self.server.restart() }
            self.server.maintain()
            self.clock.advance(100)
            guard self.drain() else { return false }
        }
        return false
    }

    /// Checks that the store has recorded a gap for each missing event, before the devices request
    /// the rest of the logs.
    private func checkHoles() {
        for device in self.devices where !device.isRetired {
            for conversation in device.conversations {
                guard let seq = device.unannouncedHole(in: conversation) else { continue }
                self.server.faults.append(
                    "device \(device.index) of \(device.name): \(conversation): the core passed over event \(seq) without a gap")
            }
        }
    }

    /// Makes each device request its conversations back to the beginning.
    private func scrollBack() {
        for device in self.devices where !device.isRetired {
            for conversation in device.conversations { device.open(conversation) }
        }
        _ = self.drain()
        for _ in 0..<50 {
            var isMissing = false
            for device in self.devices where !device.isRetired {
                for conversation in device.conversations where device.scroll(conversation) { isMissing = true }
            }
            guard isMissing else { return }
            _ = self.drain()
            guard self.server.faults.isEmpty else { return }
        }
        self.server.faults.append("the older part of a log is not served")
    }
}

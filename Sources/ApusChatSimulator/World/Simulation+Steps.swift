import ApusChatStorage

// One step of a run: time passes, timers fire, and one action is performed.
extension Simulation {
    func step(_ number: Int) {
        self.clock.advance(self.generator.chance(perMille: 4) ? 1_000 + self.generator.number(0...4_000) : self.generator.number(0...40))
        self.fireTimers()
        guard let device = self.generator.pick(self.devices) else { return }
        switch self.generator.below(1_000) {
        case 0..<300: self.act(device)
        case 300..<360: self.connectSome()
        case 360..<380: self.disconnect(device)
        case 380..<390: self.restart(device)
        case 390..<394: self.partition()
        case 394..<600: self.moveTraffic(visits: 24)
        case 600..<780: self.server.serveReads(8)
        case 780..<960: self.writeBatch()
        case 960..<968: self.server.maintain()
        case 968..<970: if let room = self.generator.pick(self.server.rooms) { self.server.retain(room, milliseconds: 40_000) }
        case 970..<973: self.jump()
        case 973:
            self.note("server restarts")
            self.server.restart()
        case 975..<984: self.slowDown(device)
        case 984: if self.generator.chance(perMille: 350) { self.deleteAccount(of: device.user) }
        case 974:
            if self.generator.chance(perMille: 300) {
                self.server.coverage.note(.newEpoch)
                self.server.renewEpoch()
            }
        default: self.moveTraffic(visits: 60)
        }
    }

    func fireTimers() {
        while let entry = self.agenda.next(at: self.clock.monotonic) {
            switch entry {
            case .device(let index, let connection, let timer): self.devices[index].fired(timer, of: connection)
            case .frame(let socket): self.server.frameTimerFired(socket)
            case .probe(let life): self.server.probe(life: life, isWritable: self.generator.chance(perMille: 700))
            case .digest(let life): self.server.digestTimerFired(life: life)
            case .heal(let indexes): for index in indexes { self.devices[index].connection?.isCut = false }
            case .reads(let connection): connection.isSlow = false
            case .stall(let socket): self.server.stallTimerFired(socket)
            case .owed(let socket, let due): self.server.checkOwed(socket, due: due)
            case .page(let life, let target, let body): self.server.pageArrived(life: life, target, body: body)
            case .call(let life, let call, let timer): self.server.callTimerFired(life: life, call, timer: timer)
            }
        }
    }

    /// Writes one batch. The server can stop within it, and the disk can fail.
    private func writeBatch() {
        switch self.generator.below(500) {
        case 0:
            self.note("server stops before a commit")
            self.server.writeBatch(stop: .beforeCommit)
        case 1:
            self.note("server stops after a commit")
            self.server.writeBatch(stop: .afterCommit)
        case 2:
            self.note("server stops after the acks")
            self.server.writeBatch(stop: .afterAcks)
        case 3: self.server.writeBatch(fault: .full)
        case 4: self.server.writeBatch(fault: .io(isWritten: self.generator.chance(perMille: 500)))
        case 5, 6: self.server.writeBatch(fault: .contention)
        default: self.server.writeBatch()
        }
    }

    /// Deletes the account of a user. The user's devices never connect again.
    private func deleteAccount(of user: UserKey) {
        guard !self.oracle.deleted.contains(user) else { return }
        self.note("the account \(user.rawValue) is deleted")
        self.server.deleteAccount(of: user)
        for device in self.devices where device.user == user { device.retire() }
    }

    /// Makes the wall clock of the server jump.
    private func jump() {
        let distances: [Int64] = [700, -700, 5_000, -5_000, 3_600_000, -3_600_000, 31_536_000_000]
        guard let distance = self.generator.pick(distances) else { return }
        self.note("clock jumps by \(distance) ms")
        self.clock.jump(distance)
        self.server.coverage.note(.clockJump)
    }
}

import ApusChatCore
import DequeModule

// Connections and their data.
extension Simulation {
    /// Connects up to twelve devices that have no connection.
    func connectSome() {
        for _ in 0..<12 {
            if let device = self.generator.pick(self.devices), device.connection == nil { self.connect(device) }
        }
    }

    func connect(_ device: Device) {
        guard device.connection == nil, !device.isRetired else { return }
        self.lastConnection += 1
        let connection = Connection(key: SocketKey(self.lastConnection), device: device.index, user: device.user)
        self.note("device \(device.index) of \(device.name) connects as \(self.lastConnection)")
        self.connections.append(connection)
        self.server.accept(connection)
        device.connected(connection)
    }

    /// Ends the connection of a device. Data in transit to the server can still arrive. Data in
    /// transit to the device is lost.
    func disconnect(_ device: Device) {
        guard let connection = device.connection else { return }
        self.note("device \(device.index) disconnects")
        connection.drop()
        if self.generator.chance(perMille: 400) { connection.up.removeAll() }
        device.disconnected()
    }

    func restart(_ device: Device) {
        self.note("device \(device.index) restarts")
        device.connection?.drop()
        device.restart()
    }

    /// Interrupts the data transfer of some connections for several seconds, without a notification
    /// to the devices and the server.
    func partition() {
        let cut = self.devices.filter { _ in self.generator.chance(perMille: 200) }
        for device in cut { device.connection?.isCut = true }
        self.server.coverage.note(.partition)
        self.note("a partition of \(cut.count) devices")
        self.agenda.add(.heal(cut.map(\.index)), at: self.clock.monotonic + self.generator.number(500...6_000))
    }

    /// Makes a device stop reading for some time, like a busy program or a device whose screen is
    /// off.
    func slowDown(_ device: Device) {
        guard let connection = device.connection, !connection.isSlow else { return }
        self.note("device \(device.index) does not read")
        connection.isSlow = true
        self.agenda.add(.reads(connection), at: self.clock.monotonic + self.generator.number(2_000...60_000))
    }

    /// Transfers data on some connections, beginning with a random connection.
    func moveTraffic(visits: Int, all: Bool = false) {
        guard !self.connections.isEmpty else { return }
        let start = self.generator.below(self.connections.count)
        var isClosed = false
        for offset in 0..<min(visits, self.connections.count) {
            let connection = self.connections[(start + offset) % self.connections.count]
            guard connection.hasTraffic else { continue }
            self.move(connection, limit: all ? .max : 1 + self.generator.below(8))
            if !connection.isOpenAtServer, !connection.isOpenAtDevice { isClosed = true }
        }
        if isClosed { self.connections.removeAll { !$0.isOpenAtServer && !$0.isOpenAtDevice } }
    }

    private func move(_ connection: Connection, limit: Int) {
        let device = self.devices[connection.device]
        var count = 0
        while connection.isOpenAtServer, count < limit, let request = connection.up.popFirst() {
            count += 1
            self.note("→ \(device.name) \(connection.key.rawValue): \(request)")
            self.server.receive(request, on: connection)
        }
        if !connection.isOpenAtDevice, connection.isOpenAtServer, connection.up.isEmpty { self.server.close(connection) }
        guard !connection.isSlow || !connection.isOpenAtDevice else { return }
        count = 0
        while connection.isOpenAtDevice, count < limit, let message = connection.take() {
            count += 1
            self.note("← \(device.name) \(connection.key.rawValue): \(message)")
            device.take(message)
        }
        if count > 0, connection.isOpenAtServer { self.server.taken(from: connection) }
        if !connection.isOpenAtDevice { connection.drop() }
        if connection.isOpenAtDevice, !connection.isOpenAtServer, connection.down.isEmpty, device.connection === connection {
            device.disconnected()
        }
    }
}

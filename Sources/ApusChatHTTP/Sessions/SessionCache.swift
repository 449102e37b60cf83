import ApusChatStorage

/// Caches the devices whose access tokens were used recently, and the devices whose session has
/// ended.
///
/// A device whose session has ended stays recorded as ended, even if a read that began earlier
/// returns its row.
struct SessionCache: Sendable {
    private let capacity: Int
    private var devices: [DeviceKey: DeviceRow] = [:]
    private var former: [DeviceKey: DeviceRow] = [:]
    private var ended: Set<DeviceKey> = []
    private var formerlyEnded: Set<DeviceKey> = []

    init(capacity: Int = 50_000) { self.capacity = capacity }

    enum Answer: Equatable {
        case device(DeviceRow)
        case ended
        /// The device is not cached. Its row must be read.
        case unknown
    }

    mutating func find(_ key: DeviceKey) -> Answer {
        if self.hasEnded(key) { return .ended }
        if let device = self.devices[key] { return .device(device) }
        guard let device = self.former.removeValue(forKey: key) else { return .unknown }
        self.insert(device)
        return .device(device)
    }

    /// Adds a row. A row that is older than the cached one is ignored.
    mutating func insert(_ device: DeviceRow) {
        guard !self.hasEnded(device.key) else { return }
        if let known = self.devices[device.key], known.generation > device.generation { return }
        if self.devices.count >= self.capacity {
            self.former = self.devices
            self.devices = [:]
        }
        self.devices[device.key] = device
    }

    mutating func end(_ keys: [DeviceKey]) {
        for key in keys {
            self.devices[key] = nil
            self.former[key] = nil
            // The rows are removed from the database before two generations are full.
            if self.ended.count >= self.capacity {
                self.formerlyEnded = self.ended
                self.ended = []
            }
            self.ended.insert(key)
        }
    }

    private func hasEnded(_ key: DeviceKey) -> Bool { self.ended.contains(key) || self.formerlyEnded.contains(key) }
}

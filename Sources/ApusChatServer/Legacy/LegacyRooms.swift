import ApusChatProtocol

/// The devices that take part in the calls of apps that use the legacy protocol.
struct LegacyRooms: Sendable {
    /// The maximum number of devices of one call.
    private static let maximumDevices = 8
    private var rooms: [LegacyRoom: [DeviceID: UserName]] = [:]

    /// Adds a device that joins through this listener, or that sent a `signal` through the chat.
    ///
    /// - Returns: The other devices of the call; nil if the call has the maximum number of devices.
    mutating func join(_ room: LegacyRoom, _ device: DeviceID, of user: UserName) -> [DeviceID: UserName]? {
        var others = self.rooms[room] ?? [:]
        others[device] = nil
        guard others.count < Self.maximumDevices else { return nil }
        self.rooms[room, default: [:]][device] = user
        return others
    }

    /// Returns the user of a device in a call; nil if the device does not take part.
    func user(of device: DeviceID, in room: LegacyRoom) -> UserName? { self.rooms[room]?[device] }

    mutating func leave(_ room: LegacyRoom, _ device: DeviceID) {
        self.rooms[room]?[device] = nil
        if self.rooms[room]?.isEmpty == true { self.rooms[room] = nil }
    }

    /// Removes a call that has ended.
    mutating func close(_ room: LegacyRoom) { self.rooms[room] = nil }
}

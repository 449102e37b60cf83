package import ApusChatStorage

/// The ordinals of the last messages that the devices of members have received, in memory only.
///
/// The positions are lost when the server restarts. Clients report them again with the next
/// received message. The number of members is bounded: the least recently updated members are
/// removed.
package struct ReceivedPositions: Sendable {
    private typealias Devices = [DeviceKey: Int64]

    private let capacity: Int
    private let devicesOfMember: Int
    private var members: [MemberAddress: Devices] = [:]
    private var former: [MemberAddress: Devices] = [:]

    /// - Parameters:
    ///   - capacity: The maximum number of members in each of two generations.
    ///   - devicesOfMember: The maximum number of devices of one member.
    package init(capacity: Int = 100_000, devicesOfMember: Int = 40) {
        self.capacity = max(1, capacity)
        self.devicesOfMember = max(1, devicesOfMember)
    }

    /// Records the ordinal of the last message that a device has received.
    ///
    /// - Returns: Whether the device is the member's first one that has received the message.
    package mutating func received(_ n: Int64, by member: MemberAddress, on device: DeviceKey) -> Bool {
        var devices = self.members[member] ?? self.former.removeValue(forKey: member) ?? [:]
        let last = devices.values.max() ?? 0
        if n > devices[device] ?? 0 {
            if devices[device] == nil, devices.count >= self.devicesOfMember, let least = devices.min(by: { $0.value < $1.value }) {
                devices[least.key] = nil
            }
            devices[device] = n
        }
        if self.members[member] == nil, self.members.count >= self.capacity {
            self.former = self.members
            self.members = [:]
        }
        self.members[member] = devices
        return n > last
    }

    /// Returns the ordinal of the last message that any device of the member has received, or 0.
    package func last(of member: MemberAddress) -> Int64 { self.devices(of: member).values.max() ?? 0 }

    /// Returns the ordinal of the last message that one device has received, or 0.
    package func last(of member: MemberAddress, on device: DeviceKey) -> Int64 { self.devices(of: member)[device] ?? 0 }

    private func devices(of member: MemberAddress) -> Devices { self.members[member] ?? self.former[member] ?? [:] }
}

import ApusChatCore
package import ApusChatStorage
import NIOConcurrencyHelpers

/// The received positions of the devices of members. Only the hub changes them; any thread can read
/// them.
package final class ReceivedBook: Sendable {
    private let positions = NIOLockedValueBox(ReceivedPositions())

    package init() {}

    /// Returns the ordinal of the last message that a device of the member has received, or 0.
    package func last(of member: MemberAddress) -> Int64 { self.positions.withLockedValue { $0.last(of: member) } }

    /// Returns the ordinal of the last message that one device has received, or 0.
    package func last(of member: MemberAddress, on device: DeviceKey) -> Int64 {
        self.positions.withLockedValue { $0.last(of: member, on: device) }
    }

    /// Records a received position.
    ///
    /// - Returns: Whether the ordinal is above the received positions of all devices of the member.
    func received(_ n: Int64, by member: MemberAddress, on device: DeviceKey) -> Bool {
        self.positions.withLockedValue { $0.received(n, by: member, on: device) }
    }
}

import ApusChatCore
package import ApusChatStorage
import NIOConcurrencyHelpers

/// What the devices of members have received, for any thread. The hub writes it.
package final class ReceivedBook: Sendable {
    private let positions = NIOLockedValueBox(ReceivedPositions())

    package init() {}

    /// The ordinal of the last message that a device of the member has received, or 0.
    package func last(of member: MemberAddress) -> Int64 { self.positions.withLockedValue { $0.last(of: member) } }

    /// The ordinal of the last message that one device has received, or 0.
    package func last(of member: MemberAddress, on device: DeviceKey) -> Int64 {
        self.positions.withLockedValue { $0.last(of: member, on: device) }
    }

    /// - Returns: Whether no device of the member had received the message before.
    func received(_ n: Int64, by member: MemberAddress, on device: DeviceKey) -> Bool {
        self.positions.withLockedValue { $0.received(n, by: member, on: device) }
    }
}

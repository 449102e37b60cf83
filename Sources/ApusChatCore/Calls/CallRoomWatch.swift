import ApusChatProtocol
package import ApusChatStorage

/// Opens and closes the rooms of calls on a media server, and ends the calls whose rooms are empty.
///
/// A device that disconnects from the room without a report to the chat server remains one of the
/// devices of ``CallWatch`` while it is connected to the chat.
package struct CallRoomWatch: Sendable {
    package enum Action: Sendable, Equatable {
        /// Create the room.
        case open(EventAddress)
        /// Delete the room, which disconnects its participants.
        case close(EventAddress)
        /// Call `timerFired` after `interval`.
        case startTimer(EventAddress)
        case cancelTimer(EventAddress)
        /// Request the number of participants, and pass it to `counted`.
        case count(EventAddress)
        /// Report `ended` as the server.
        case end(EventAddress)
    }

    private struct Call {
        var isAccepted = false
        /// The number of counts in a row that found no participant.
        var emptyCounts = 0
    }

    /// The time between two counts.
    package static let interval = Duration.seconds(30)
    /// The number of empty counts in a row that end a call. A device needs time to join.
    private static let patience = 2

    private var calls: [EventAddress: Call] = [:]

    package init() {}

    package var count: Int { self.calls.count }

    /// Handles the changes of a batch.
    package mutating func committed(_ changes: [CallChange], deleted: [ConversationKey]) -> [Action] {
        var actions: [Action] = []
        for change in changes {
            switch change.event {
            case .state(.ringing, _) where change.hasRoom:
                guard self.calls.updateValue(Call(), forKey: change.call) == nil else { continue }
                actions.append(.open(change.call))
            case .state(.accepted, _) where change.hasRoom:
                // After a restart of the server, a call becomes known when a device accepts it
                // again.
                guard self.calls[change.call]?.isAccepted != true else { continue }
                self.calls[change.call, default: Call()].isAccepted = true
                actions.append(.startTimer(change.call))
            case .state(.ended, _), .state(.missed, _), .state(.declined, _), .state(.busy, _):
                actions += self.forget(change.call, hadRoom: change.hasRoom)
            case .state, .left, .departed: break
            }
        }
        for key in deleted {
            for call in self.calls.keys where call.conversation == key { actions += self.forget(call, hadRoom: true) }
        }
        return actions
    }

    private mutating func forget(_ call: EventAddress, hadRoom: Bool) -> [Action] {
        let former = self.calls.removeValue(forKey: call)
        guard former != nil || hadRoom else { return [] }
        return former?.isAccepted == true ? [.cancelTimer(call), .close(call)] : [.close(call)]
    }

    package func timerFired(_ call: EventAddress) -> [Action] { self.calls[call] == nil ? [] : [.count(call)] }

    /// Handles the number of participants; nil if it is not known.
    package mutating func counted(_ call: EventAddress, _ participants: Int?) -> [Action] {
        guard var state = self.calls[call] else { return [] }
        if let participants { state.emptyCounts = participants == 0 ? state.emptyCounts + 1 : 0 }
        self.calls[call] = state
        return state.emptyCounts >= Self.patience ? [.end(call), .startTimer(call)] : [.startTimer(call)]
    }
}

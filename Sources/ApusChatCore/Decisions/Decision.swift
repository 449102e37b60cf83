package import ApusChatProtocol
package import ApusChatStorage

/// The decision on one command. Its answer must not be sent before the batch is committed.
package enum Decision: Sendable, Equatable {
    /// The command takes effect with the batch.
    case accepted(StoredAnswer)
    /// The command is a retry. The first answer is repeated, and nothing is changed.
    case repeated(StoredAnswer)
    /// The command has no effect. The other commands of the batch are not affected.
    case refused(ChatError)
}

/// A notification of a batch, which is sent after the answers of its commands.
package enum Push: Sendable, Equatable {
    /// New events of a conversation, in the order of their `seq`, for its members. Each recipient
    /// receives the part that its `MemberView` permits.
    case events(ConversationKey, first: Int64, last: Int64)
    /// A user's head of a conversation changed. The push is sent to the devices of that user.
    case head(ConversationKey, of: UserKey)
    /// A read position moved. The push is coalesced and sent to the other members.
    case read(ConversationKey, by: UserKey, n: Int64)
    /// A user receives the events of a conversation from this event onward.
    case arrived(ConversationKey, UserKey, first: Int64)
    /// A user receives the events of a conversation up to and including this event.
    case departed(ConversationKey, UserKey, last: Int64)
    /// For a user, a contact or the profile of `subject` changed.
    case user(UserKey, subject: UserKey)
    /// The visible profile of a user changed. The push is coalesced and sent to the users who may
    /// see the profile.
    case profile(UserKey)
}

/// The changes, answers and pushes of a decided batch.
package struct DecidedBatch: Sendable {
    package var changes: Changes
    package var pushes: [Push]
    /// The events that are hidden from single members. The pushes to these members contain a
    /// `hidden` event instead.
    package var hidden: [AnnotationAddress]
    /// The messages whose sender requested that they cause no notification.
    package var silent: Set<EventAddress>
    /// The conversations whose events are not pushed; clients request them instead, because an
    /// event is invisible to too many members.
    package var nudged: Set<ConversationKey>
    /// The conversations that were deleted for all members.
    package var deleted: [ConversationKey]
    /// The changes of calls, in order.
    package var calls: [CallChange]
    /// The users whose number of unread mentions changed, because a message was added or lost its
    /// content. `UserKey(0)` stands for all members.
    package var mentioned: [ConversationKey: Set<UserKey>]

    package init(
        changes: Changes, pushes: [Push], hidden: [AnnotationAddress], silent: Set<EventAddress> = [], nudged: Set<ConversationKey> = [],
        deleted: [ConversationKey] = [], calls: [CallChange] = [],
        mentioned: [ConversationKey: Set<UserKey>] = [:]
    ) {
        self.changes = changes
        self.pushes = pushes
        self.hidden = hidden
        self.silent = silent
        self.nudged = nudged
        self.deleted = deleted
        self.calls = calls
        self.mentioned = mentioned
    }
}

/// A change of a call or of its devices.
package struct CallChange: Sendable, Equatable {
    /// A device of a user.
    package struct Party: Sendable, Hashable {
        package var user: UserKey
        package var device: DeviceKey

        package init(_ user: UserKey, _ device: DeviceKey) {
            self.user = user
            self.device = device
        }
    }

    package enum Event: Sendable, Equatable {
        /// The state after a report of a device or of the server, or after the content of the
        /// message was removed.
        ///
        /// - Parameter joined: The device that takes part in the call from now on; nil if no device
        ///   is added.
        case state(CallState, joined: Party?)
        /// A device reported that it leaves the call of a group. The device may already have left.
        case left(DeviceKey)
        /// A user is no longer a member of the group.
        case departed(UserKey)
    }

    package var call: EventAddress
    package var event: Event
    /// Whether the call takes place in a group.
    package var isGroup: Bool
    /// Whether the call uses a media server. False for `departed`.
    package var hasRoom: Bool

    package init(call: EventAddress, _ event: Event, isGroup: Bool, hasRoom: Bool = false) {
        self.call = call
        self.event = event
        self.isGroup = isGroup
        self.hasRoom = hasRoom
    }
}

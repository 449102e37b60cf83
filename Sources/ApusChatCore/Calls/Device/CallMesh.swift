package import ApusChatProtocol

/// The other devices of a call, and the announcements between them.
package struct CallMesh: Sendable, Equatable {
    /// The participation of another device in the call.
    package struct Peer: Sendable, Hashable {
        package var user: UserName
        package var device: DeviceID
        /// The random name of the participation; empty for apps that do not send a name.
        package var session: String

        package init(user: UserName, device: DeviceID, session: String) {
            self.user = user
            self.device = device
            self.session = session
        }
    }

    package enum Target: Sendable, Hashable {
        case peer(Peer)
        /// All devices of a user.
        case user(UserName)
        /// The devices of other users in the call.
        case participants
    }

    package enum Action: Sendable, Equatable {
        case send(CallSignal.Content, to: Target)
        /// Make a connection, and send the state of the own media. `offers`: this side makes the
        /// first offer, and is the impolite side of the negotiation.
        case connect(Peer, offers: Bool)
        case disconnect(Peer)
        /// Pass an offer, an answer or a candidate to the connection.
        case deliver(Peer, CallSignal.Content)
        case showState(Peer, CallSignal.Content)
        /// Report `connected` to the machine of the call.
        case connected
        /// Report to the machine that another device of the user answered.
        case answeredElsewhere
        case end(DeviceCallMachine.Reason)
        /// The only other device has left the call. End the call after `leaveTime`, unless the log
        /// reports the end before.
        case awaitEnd
        /// Another device reports that the call of a group is full. End with `full` unless a device
        /// connects within `joinTime`. Does nothing while the device already waits.
        case awaitPeers
    }

    /// The maximum number of other devices. The mesh has at most four devices.
    package static let maximumPeers = 3
    private static let maximumEarly = 8
    package static let leaveTime = Duration.seconds(5)
    package static let joinTime = Duration.seconds(3)

    package let session: String
    private let me: UserName
    private let isGroup: Bool
    package private(set) var peers: [Peer] = []
    /// The devices without a session that announced themselves before the answer, and wait for an
    /// offer.
    private var early: [Peer] = []
    /// Whether the device has announced itself, and no other device has connected since.
    private var isJoining = false

    /// - Parameter session: The random name of this participation.
    package init(session: String, me: UserName, isGroup: Bool) {
        self.session = session
        self.me = me
        self.isGroup = isGroup
    }

    /// Announces this device to the others.
    ///
    /// - Parameter other: The other user of a pair.
    package mutating func join(_ other: UserName?) -> [Action] {
        var actions: [Action] = []
        for peer in self.early {
            actions.append(.send(.join(), to: .peer(peer)))
            actions += self.add(peer, isFirst: true)
        }
        self.early = []
        if self.isGroup {
            self.isJoining = self.peers.isEmpty
            // The log records the first answer only, so a signal ends the ringing of the user's
            // other devices.
            actions += [.send(.join(), to: .participants), .send(.answered, to: .user(self.me))]
        } else if let other {
            actions.append(.send(.join(), to: .user(other)))
        }
        return actions
    }

    package func leave() -> [Action] { self.peers.map { .send(.leave(), to: .peer($0)) } }

    /// Handles a reconnection of the chat: another device may have joined in the meantime.
    package mutating func resume(_ other: UserName?) -> [Action] {
        guard !self.peers.isEmpty else { return self.join(other) }
        return self.isGroup ? [.send(.join(isRepeated: true), to: .participants)] : []
    }

    /// Handles a signal of the call.
    package mutating func received(
        _ signal: CallSignal, from user: UserName, _ device: DeviceID, in phase: DeviceCallMachine.Phase
    ) -> [Action] {
        guard signal.session != self.session, self.isAddressed(signal) else { return [] }
        if user == self.me { return signal.content == .answered ? [.answeredElsewhere] : [] }
        let peer = Peer(user: user, device: device, session: signal.session)
        switch phase {
        case .starting, .over: return []
        case .incoming, .joining:
            // Devices with a session answer the later announcement of this device. Therefore, their
            // announcement is ignored here.
            if case .join = signal.content, peer.session.isEmpty, self.early.count < Self.maximumEarly { self.early.append(peer) }
            return []
        case .outgoing, .active: break
        }
        if case .join(let isReply, let isRepeated) = signal.content {
            return self.joined(peer, isReply: isReply, isRepeated: isRepeated)
        }
        if signal.content == .full, self.isGroup, signal.recipient == self.session { return self.refused(by: peer, in: phase) }
        guard self.peers.contains(peer) else { return [] }
        switch signal.content {
        case .join, .answered: return []
        case .leave(let isMoved): return isMoved && !self.isGroup ? [.end(.elsewhere)] : self.left(peer)
        case .full: return self.peers.count <= 1 ? [.end(.full)] : self.remove(peer)
        case .state: return [.showState(peer, signal.content)]
        case .offer, .answer, .candidate: return [.deliver(peer, signal.content)]
        }
    }

    private func isAddressed(_ signal: CallSignal) -> Bool {
        if !signal.recipient.isEmpty { return signal.recipient == self.session }
        switch signal.content {
        case .join, .answered: return true
        case .leave, .full, .state, .offer, .answer, .candidate: return signal.session.isEmpty
        }
    }

    /// Handles a `full` signal in a group. One member cannot make the device leave while others
    /// connect.
    private mutating func refused(by peer: Peer, in phase: DeviceCallMachine.Phase) -> [Action] {
        let actions = self.remove(peer)
        let isConcerned = self.isJoining || !actions.isEmpty
        return phase == .active && isConcerned && self.peers.isEmpty ? actions + [.awaitPeers] : actions
    }

    private mutating func joined(_ peer: Peer, isReply: Bool, isRepeated: Bool) -> [Action] {
        let isKnown = self.peers.contains(peer)
        if (isReply || isRepeated) && isKnown { return [] }
        var actions: [Action] = []
        // A device that joins again replaces its former connection. In a pair, another device of
        // the same user also replaces the connection.
        for former in self.peers where former.user == peer.user && (!self.isGroup || former.device == peer.device) {
            if former != peer, !former.session.isEmpty { actions.append(.send(.leave(isMoved: true), to: .peer(former))) }
            actions += self.remove(former)
        }
        guard self.peers.count < Self.maximumPeers else { return actions + [.send(.full, to: .peer(peer))] }
        if !isReply { actions.append(.send(.join(isReply: true), to: .peer(peer))) }
        return actions + self.add(peer, isFirst: false) + [.connected]
    }

    private mutating func add(_ peer: Peer, isFirst: Bool) -> [Action] {
        guard self.peers.count < Self.maximumPeers, !self.peers.contains(peer) else { return [] }
        self.peers.append(peer)
        self.isJoining = false
        return [.connect(peer, offers: peer.session.isEmpty ? isFirst : self.session > peer.session)]
    }

    private mutating func remove(_ peer: Peer) -> [Action] {
        guard let index = self.peers.firstIndex(of: peer) else { return [] }
        self.peers.remove(at: index)
        return [.disconnect(peer)]
    }

    private mutating func left(_ peer: Peer) -> [Action] { self.remove(peer) + (self.isGroup ? [] : [.awaitEnd]) }

    /// Removes a device whose connection was abandoned.
    package mutating func lost(_ peer: Peer) -> [Action] {
        let actions = self.remove(peer)
        return actions.isEmpty || self.isGroup || !self.peers.isEmpty ? actions : actions + [.end(.lost)]
    }

    /// Removes the devices of users who are no longer members.
    package mutating func dismissed(_ users: [UserName]) -> [Action] {
        var actions: [Action] = []
        for peer in self.peers where users.contains(peer.user) { actions += self.remove(peer) }
        return actions
    }
}

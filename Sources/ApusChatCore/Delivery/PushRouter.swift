import ApusChatProtocol
package import ApusChatStorage

/// The number of a connection on this node.
package struct SocketKey: Hashable, Sendable, Comparable {
    package let rawValue: Int64
    package init(_ rawValue: Int64) { self.rawValue = rawValue }
    package static func < (left: Self, right: Self) -> Bool { left.rawValue < right.rawValue }
}

/// Finds the connections of this node that receive a push.
///
/// The router knows the conversations of connected users only. A lost push costs a delay, never a
/// message: receivers order by seq and request what they miss.
package struct PushRouter: Sendable {
    /// One thing to send.
    package enum Delivery: Sendable, Equatable {
        /// Events, the same bytes to all of these connections.
        case events(ConversationKey, first: Int64, last: Int64, to: [SocketKey])
        /// Events as one user sees them, because some are hidden from the user or the user came or
        /// left within the range.
        case personal(ConversationKey, first: Int64, last: Int64, user: UserKey, to: [SocketKey])
        /// A changed head of a large conversation, coalesced.
        case nudge(ConversationKey, to: [SocketKey])
        /// The user's own head changed.
        case head(ConversationKey, user: UserKey, to: [SocketKey])
        /// Another member's read position, coalesced.
        case read(ConversationKey, by: UserKey, n: Int64, to: [SocketKey])
        case user(subject: UserKey, to: [SocketKey])
    }

    private struct Connection {
        var user: UserKey
        /// The conversations on the screen.
        var shown: Set<ConversationKey> = []
        /// When the connection stopped reading; nil while it reads.
        var stalledAt: Int64?
    }

    private struct Person {
        var sockets: [SocketKey] = []
        var conversations: Set<ConversationKey> = []
        /// While the list of conversations is read, what changes it meanwhile. Nil afterwards.
        var meanwhile: [ConversationKey: Bool]? = [:]
    }

    /// The number of members from which on only those that look at a conversation get its events.
    package let largeConversation: Int
    /// The number of members up to which read positions are pushed without a request.
    package let receiptMembers: Int
    private var connections: [SocketKey: Connection] = [:]
    private var people: [UserKey: Person] = [:]
    /// The connected members of each conversation, in order of arrival.
    private var recipients: [ConversationKey: [UserKey]] = [:]
    /// The connections that show each conversation.
    private var viewers: [ConversationKey: Set<SocketKey>] = [:]

    package init(largeConversation: Int = 500, receiptMembers: Int = ChatLimits.receiptMembers) {
        self.largeConversation = largeConversation
        self.receiptMembers = receiptMembers
    }

    package var userCount: Int { self.people.count }

    /// Adds a connection.
    ///
    /// - Returns: Whether the shell has to read the user's conversations and pass them to `loaded`.
    package mutating func connected(_ socket: SocketKey, user: UserKey) -> Bool {
        self.connections[socket] = Connection(user: user)
        let isFirst = self.people[user] == nil
        self.people[user, default: Person()].sockets.append(socket)
        return isFirst
    }

    /// Takes the conversations of a user as some state of the storage had them. What was pushed
    /// since the connection is newer.
    package mutating func loaded(_ conversations: [ConversationKey], of user: UserKey) {
        guard let meanwhile = self.people[user]?.meanwhile else { return }
        self.people[user]?.meanwhile = nil
        for key in conversations where meanwhile[key] == nil { self.join(user, key) }
        for (key, isMember) in meanwhile where isMember { self.join(user, key) }
    }

    package mutating func disconnected(_ socket: SocketKey) {
        guard let connection = self.connections.removeValue(forKey: socket) else { return }
        for key in connection.shown { self.removeViewer(socket, of: key) }
        let user = connection.user
        self.people[user]?.sockets.removeAll { $0 == socket }
        guard let person = self.people[user], person.sockets.isEmpty else { return }
        for key in person.conversations { self.removeRecipient(user, of: key) }
        self.people[user] = nil
    }

    /// Notes which conversations a connection shows.
    package mutating func shows(_ socket: SocketKey, _ conversations: Set<ConversationKey>) {
        guard let before = self.connections[socket]?.shown else { return }
        for key in before.subtracting(conversations) { self.removeViewer(socket, of: key) }
        for key in conversations { self.viewers[key, default: []].insert(socket) }
        self.connections[socket]?.shown = conversations
    }

    /// Routes the pushes of a committed batch.
    ///
    package mutating func route(_ batch: DecidedBatch) -> [Delivery] {
        var deliveries: [Delivery] = []
        let bounds = self.bounds(of: batch)
        var counts: [ConversationKey: Int] = [:]
        for change in batch.changes.conversations { counts[change.key] = change.counters.memberCount }
        let hidden = Set(batch.hidden.map { MemberAddress($0.event.conversation, $0.user) })
        var remaining: [MemberAddress: Bool] = [:]
        // Those that arrive get the events from their arrival on, those that depart up to the end.
        for push in batch.pushes {
            switch push {
            case .arrived(let key, let user, _):
                self.join(user, key)
                remaining[MemberAddress(key, user)] = true
            case .departed(let key, let user, _): remaining[MemberAddress(key, user)] = false
            case .events, .head, .read, .user: break
            }
        }
        for push in batch.pushes {
            switch push {
            case .events(let key, let first, let last):
                if batch.deleted.contains(key) { continue }
                if batch.nudged.contains(key) {
                    let sockets = self.sockets(ofMembersOf: key)
                    if !sockets.isEmpty { deliveries.append(.nudge(key, to: sockets)) }
                    continue
                }
                let isLarge = counts[key] ?? 0 > self.largeConversation
                self.routeEvents(key, first, last, bounds: bounds, hidden: hidden, isLarge: isLarge, to: &deliveries)
            case .head(let key, let user):
                let sockets = self.sockets(of: user)
                if !sockets.isEmpty { deliveries.append(.head(key, user: user, to: sockets)) }
            case .read(let key, let user, let n):
                let members = counts[key] ?? self.recipients[key]?.count ?? 0
                let sockets = members > self.receiptMembers ? [] : self.receiptSockets(key, except: user)
                if !sockets.isEmpty { deliveries.append(.read(key, by: user, n: n, to: sockets)) }
            case .user(let user, let subject):
                let sockets = self.sockets(of: user)
                if !sockets.isEmpty { deliveries.append(.user(subject: subject, to: sockets)) }
            case .arrived: break
            case .departed(let key, let user, _):
                // A user that returned within the batch stays.
                if remaining[MemberAddress(key, user)] == false { self.leave(user, key) }
            }
        }
        for key in batch.deleted {
            for user in self.recipients[key] ?? [] {
                deliveries.append(.head(key, user: user, to: self.sockets(of: user)))
                self.leave(user, key)
            }
        }
        return deliveries
    }

    package func sockets(of user: UserKey) -> [SocketKey] { self.people[user]?.sockets ?? [] }

    /// The connections of the other members, for what is told without an event. Empty for a user
    /// that is no member, and in a large conversation.
    package func peers(of user: UserKey, in conversation: ConversationKey) -> [SocketKey] {
        guard self.people[user]?.conversations.contains(conversation) == true, let users = self.recipients[conversation],
            users.count <= self.largeConversation
        else { return [] }
        return users.lazy.filter { $0 != user }.flatMap { self.sockets(of: $0) }
    }

    /// Whether a user is a member of a conversation. Nil for a user that is not connected.
    package func isMember(_ user: UserKey, of conversation: ConversationKey) -> Bool? {
        guard let person = self.people[user], person.meanwhile == nil else { return nil }
        return person.conversations.contains(conversation)
    }

    /// The connections of other members that show one of these conversations, without large ones.
    package func viewers(of conversations: [ConversationKey], except user: UserKey) -> [UserKey: [SocketKey]] {
        var found: [UserKey: Set<SocketKey>] = [:]
        for key in conversations where (self.recipients[key]?.count ?? 0) <= self.largeConversation {
            for socket in self.viewers[key] ?? [] {
                guard let viewer = self.connections[socket]?.user, viewer != user,
                    self.people[viewer]?.conversations.contains(key) == true
                else { continue }
                found[viewer, default: []].insert(socket)
            }
        }
        return found.mapValues { $0.sorted() }
    }

    /// The connections of the other members of a conversation in which positions are told.
    package func receiptSockets(_ key: ConversationKey, except user: UserKey) -> [SocketKey] {
        let users = self.recipients[key] ?? []
        return users.count > self.receiptMembers ? [] : users.filter { $0 != user }.flatMap { self.sockets(of: $0) }
    }

    func sockets(ofMembersOf key: ConversationKey) -> [SocketKey] { (self.recipients[key] ?? []).flatMap { self.sockets(of: $0) } }

    func isConnected(_ socket: SocketKey) -> Bool { self.connections[socket] != nil }

    func stalledAt(_ socket: SocketKey) -> Int64? { self.connections[socket]?.stalledAt }

    mutating func setStalled(_ socket: SocketKey, at time: Int64?) { self.connections[socket]?.stalledAt = time }
}

extension PushRouter {
    private typealias Bounds = [MemberAddress: (first: Int64, last: Int64)]

    private func bounds(of batch: DecidedBatch) -> Bounds {
        var bounds: Bounds = [:]
        for push in batch.pushes {
            switch push {
            case .arrived(let key, let user, let first):
                bounds[MemberAddress(key, user), default: (first, .max)] = (first, .max)
            case .departed(let key, let user, let last): bounds[MemberAddress(key, user), default: (0, last)].last = last
            case .events, .head, .read, .user: break
            }
        }
        return bounds
    }

    private func routeEvents(
        _ key: ConversationKey, _ first: Int64, _ last: Int64, bounds: Bounds, hidden: Set<MemberAddress>, isLarge: Bool,
        to deliveries: inout [Delivery]
    ) {
        var all: [SocketKey] = []
        var nudged: [SocketKey] = []
        for user in self.recipients[key] ?? [] {
            guard let person = self.people[user] else { continue }
            var sockets = person.sockets
            let stalled = sockets.filter { self.connections[$0]?.stalledAt != nil }
            if !stalled.isEmpty {
                nudged += stalled
                sockets.removeAll { stalled.contains($0) }
                if sockets.isEmpty { continue }
            }
            if isLarge {
                nudged += sockets.filter { self.connections[$0]?.shown.contains(key) != true }
                sockets.removeAll { self.connections[$0]?.shown.contains(key) != true }
                if sockets.isEmpty { continue }
            }
            let address = MemberAddress(key, user)
            let bound = bounds[address] ?? (0, .max)
            let range = (first: max(first, bound.first), last: min(last, bound.last))
            guard range.first <= range.last else { continue }
            if range == (first, last), !hidden.contains(address) {
                all += sockets
            } else {
                deliveries.append(.personal(key, first: range.first, last: range.last, user: user, to: sockets))
            }
        }
        if !all.isEmpty { deliveries.append(.events(key, first: first, last: last, to: all)) }
        if !nudged.isEmpty { deliveries.append(.nudge(key, to: nudged)) }
    }

    private mutating func removeViewer(_ socket: SocketKey, of key: ConversationKey) {
        self.viewers[key]?.remove(socket)
        if self.viewers[key]?.isEmpty == true { self.viewers[key] = nil }
    }

    private mutating func join(_ user: UserKey, _ key: ConversationKey) {
        guard let person = self.people[user] else { return }
        if person.meanwhile != nil { self.people[user]?.meanwhile?[key] = true }
        guard self.people[user]?.conversations.insert(key).inserted == true else { return }
        self.recipients[key, default: []].append(user)
    }

    private mutating func leave(_ user: UserKey, _ key: ConversationKey) {
        guard self.people[user] != nil else { return }
        if self.people[user]?.meanwhile != nil { self.people[user]?.meanwhile?[key] = false }
        guard self.people[user]?.conversations.remove(key) != nil else { return }
        self.removeRecipient(user, of: key)
    }

    private mutating func removeRecipient(_ user: UserKey, of key: ConversationKey) {
        self.recipients[key]?.removeAll { $0 == user }
        if self.recipients[key]?.isEmpty == true { self.recipients[key] = nil }
    }
}

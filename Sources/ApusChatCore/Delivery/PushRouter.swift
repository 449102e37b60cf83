import ApusChatProtocol
package import ApusChatStorage

/// The number of a connection of this server.
package struct SocketKey: Hashable, Sendable, Comparable {
    package let rawValue: Int64
    package init(_ rawValue: Int64) { self.rawValue = rawValue }
    package static func < (left: Self, right: Self) -> Bool { left.rawValue < right.rawValue }
}

/// Determines the connections of this server that receive a push.
///
/// The router contains the conversations of connected users only. A lost push causes a delay, but
/// no loss of a message: clients order events by `seq` and request missing ones.
package struct PushRouter: Sendable {
    /// A push and its recipients.
    package enum Delivery: Sendable, Equatable {
        /// Events that all of these connections receive as the same bytes.
        case events(ConversationKey, first: Int64, last: Int64, to: [SocketKey])
        /// The events that one user may see, because some are hidden from the user, or the user
        /// joined or left within the range.
        case personal(ConversationKey, first: Int64, last: Int64, user: UserKey, to: [SocketKey])
        /// A coalesced nudge: the newest position of a conversation whose events these connections
        /// do not receive.
        case nudge(ConversationKey, to: [SocketKey])
        /// A changed head in one user's list of conversations.
        case head(ConversationKey, user: UserKey, to: [SocketKey])
        /// A coalesced read position of another member.
        case read(ConversationKey, by: UserKey, n: Int64, to: [SocketKey])
        case user(subject: UserKey, to: [SocketKey])
    }

    private struct Connection {
        var user: UserKey
        /// The conversations on the screen of the connection.
        var shown: Set<ConversationKey> = []
        /// The time at which the connection stopped reading, in milliseconds of a monotonic clock;
        /// nil while it reads.
        var stalledAt: Int64?
    }

    private struct Person {
        var sockets: [SocketKey] = []
        var conversations: Set<ConversationKey> = []
        /// The memberships that changed while the user's conversations are read from the storage;
        /// nil after that.
        var meanwhile: [ConversationKey: Bool]? = [:]
    }

    /// The number of members above which an event is pushed only to the connections that show the
    /// conversation.
    package let largeConversation: Int
    /// The maximum number of members of a conversation whose read positions are pushed.
    package let receiptMembers: Int
    private var connections: [SocketKey: Connection] = [:]
    private var people: [UserKey: Person] = [:]
    /// The connected members of each conversation, in the order in which they connected.
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

    /// Stores the conversations of a user that were read from the storage. Memberships that changed
    /// since the read began take precedence.
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

    /// Records the conversations that a connection shows on its screen.
    package mutating func shows(_ socket: SocketKey, _ conversations: Set<ConversationKey>) {
        guard let before = self.connections[socket]?.shown else { return }
        for key in before.subtracting(conversations) { self.removeViewer(socket, of: key) }
        for key in conversations { self.viewers[key, default: []].insert(socket) }
        self.connections[socket]?.shown = conversations
    }

    /// Returns the deliveries of the pushes of a committed batch.
    package mutating func route(_ batch: DecidedBatch) -> [Delivery] {
        var deliveries: [Delivery] = []
        let bounds = self.bounds(of: batch)
        var counts: [ConversationKey: Int] = [:]
        for change in batch.changes.conversations { counts[change.key] = change.counters.memberCount }
        let hidden = Set(batch.hidden.map { MemberAddress($0.event.conversation, $0.user) })
        var remaining: [MemberAddress: Bool] = [:]
        // A user who joined receives the events from the join onward. A user who left receives
        // the events up to the departure.
        for push in batch.pushes {
            switch push {
            case .arrived(let key, let user, _):
                self.join(user, key)
                remaining[MemberAddress(key, user)] = true
            case .departed(let key, let user, _): remaining[MemberAddress(key, user)] = false
            case .events, .head, .read, .user, .profile: break
            }
        }
        for push in batch.pushes {
            switch push {
            case .events(let key, let first, let last):
                if batch.deleted.contains(key) { continue }
                if batch.nudged.contains(key) {
                    var nudged: [SocketKey] = []
                    for user in self.recipients[key] ?? [] {
                        let isWhole = bounds[MemberAddress(key, user)] == nil
                        self.tellEnd(key, to: self.sockets(of: user), of: user, isWhole: isWhole, &nudged, &deliveries)
                    }
                    if !nudged.isEmpty { deliveries.append(.nudge(key, to: nudged)) }
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
            case .arrived, .profile: break
            case .departed(let key, let user, _):
                // A user who left and joined again in the same batch remains a member.
                if remaining[MemberAddress(key, user)] == false { self.leave(user, key) }
            }
        }
        for (key, users) in batch.mentioned.sorted(by: { $0.key < $1.key }) where !batch.deleted.contains(key) {
            self.tellMentions(key, to: users, isLarge: counts[key] ?? 0 > self.largeConversation, &deliveries)
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

    /// Returns the connections of the other members, for notifications that are not events. Empty
    /// if the user is not a member or the conversation is large.
    package func peers(of user: UserKey, in conversation: ConversationKey) -> [SocketKey] {
        guard self.people[user]?.conversations.contains(conversation) == true, let users = self.recipients[conversation],
            users.count <= self.largeConversation
        else { return [] }
        return users.lazy.filter { $0 != user }.flatMap { self.sockets(of: $0) }
    }

    /// Returns whether a user is a member of a conversation; nil if the user is not connected, or
    /// if the user's conversations are not loaded yet.
    package func isMember(_ user: UserKey, of conversation: ConversationKey) -> Bool? {
        guard let person = self.people[user], person.meanwhile == nil else { return nil }
        return person.conversations.contains(conversation)
    }

    /// Returns the connections of other members who show one of these conversations. Large
    /// conversations are omitted.
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

    /// Returns the connected users who may show the profile of a user: the other members of these
    /// conversations. For a large conversation, returns only the members who have it on their
    /// screen.
    package func acquaintances(of user: UserKey, in conversations: [ConversationKey], limit: Int) -> Set<UserKey> {
        var found: Set<UserKey> = []
        for key in conversations {
            guard found.count < limit else { break }
            let members = self.recipients[key] ?? []
            if members.count <= self.largeConversation {
                found.formUnion(members)
            } else {
                for socket in self.viewers[key] ?? [] {
                    guard let viewer = self.connections[socket]?.user, self.people[viewer]?.conversations.contains(key) == true else {
                        continue
                    }
                    found.insert(viewer)
                }
            }
            found.remove(user)
        }
        return found.count > limit ? Set(found.sorted().prefix(limit)) : found
    }

    /// Returns the connections of the other members of a conversation that reports read positions.
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
            case .events, .head, .read, .user, .profile: break
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
            let address = MemberAddress(key, user)
            let bound = bounds[address] ?? (0, .max)
            let range = (first: max(first, bound.first), last: min(last, bound.last))
            let isWhole = range == (first, last) && !hidden.contains(address)
            var sockets = person.sockets
            if sockets.contains(where: { !self.receivesEvents($0, of: key, isLarge: isLarge) }) {
                let told = sockets.filter { !self.receivesEvents($0, of: key, isLarge: isLarge) }
                sockets.removeAll { told.contains($0) }
                self.tellEnd(key, to: told, of: user, isWhole: isWhole, &nudged, &deliveries)
            }
            guard range.first <= range.last, !sockets.isEmpty else { continue }
            if isWhole {
                all += sockets
            } else {
                deliveries.append(.personal(key, first: range.first, last: range.last, user: user, to: sockets))
            }
        }
        if !all.isEmpty { deliveries.append(.events(key, first: first, last: last, to: all)) }
        if !nudged.isEmpty { deliveries.append(.nudge(key, to: nudged)) }
    }

    /// Sends the head to users whose number of unread mentions changed, because no event contains
    /// the exact number. If all members of a large conversation are mentioned, the shell sends the
    /// head instead of the nudge to the connections that receive nudges.
    private func tellMentions(_ key: ConversationKey, to users: Set<UserKey>, isLarge: Bool, _ deliveries: inout [Delivery]) {
        guard users.contains(UserKey(0)) else {
            let members = users.filter { self.people[$0]?.conversations.contains(key) == true }
            for user in members.sorted() { deliveries.append(.head(key, user: user, to: self.sockets(of: user))) }
            return
        }
        for user in self.recipients[key] ?? [] {
            let sockets = self.sockets(of: user).filter { !isLarge || self.receivesEvents($0, of: key, isLarge: true) }
            if !sockets.isEmpty { deliveries.append(.head(key, user: user, to: sockets)) }
        }
    }

    private func receivesEvents(_ socket: SocketKey, of key: ConversationKey, isLarge: Bool) -> Bool {
        guard let connection = self.connections[socket] else { return false }
        return connection.stalledAt == nil && (!isLarge || connection.shown.contains(key))
    }

    /// Sends the newest position of a log without its events. A nudge contains a preview of the
    /// newest event, so a user who does not see all events of the batch receives a head instead.
    private func tellEnd(
        _ key: ConversationKey, to sockets: [SocketKey], of user: UserKey, isWhole: Bool, _ nudged: inout [SocketKey],
        _ deliveries: inout [Delivery]
    ) {
        if isWhole {
            nudged += sockets
        } else if !sockets.isEmpty {
            deliveries.append(.head(key, user: user, to: sockets))
        }
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

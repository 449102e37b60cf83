import ApusChatCore
import ApusChatProtocol
package import ApusChatStorage
import ApusEventLoop
import ApusJSON
import Logging
import NIOConcurrencyHelpers
import NIOCore
import NIOPosix

/// A notification for one device.
package struct PushNotice: Sendable {
    package var device: DeviceKey
    /// The push subscription as JSON text.
    package var subscription: String
    /// The content, which the service worker of the page reads.
    package var content: [UInt8]
    /// Identifies the conversation. A notification replaces an older notification with the same
    /// topic.
    package var topic: String
    package var isUrgent: Bool
}

/// Selects the devices that are notified of new messages and of requests to join, on a dedicated
/// thread.
///
/// The decision is made with a delay after the commit, so that a message that the user reads
/// immediately on another device causes no notification. Several messages of one conversation cause
/// one notification, which shows the newest message. `committed` can be called on any thread.
package final class PushNotifier: Sendable {
    /// The maximum number of waiting conversations. Messages of further conversations cause no
    /// notifications.
    private static let maximumConversations = 10_000
    /// The number of members above which only mentioned members are notified.
    private static let largeConversation = 500
    /// The maximum number of members of a conversation in which a mention of all members notifies
    /// each member.
    private static let largestOfAll = 10_000
    private static let devicesOfUser = 40
    /// The maximum number of conversations whose unread messages are counted for the badge.
    private static let badgeHeads = 100
    private static let previewScalars = 200
    /// The maximum number of admins who are notified of requests to join.
    private static let notifiedStaff = 50
    /// The maximum number of open requests that are examined for the user who sent the newest one.
    private static let shownRequests = 100

    private struct State {
        var reads: (any AccountReads)?
        /// The messages of each waiting conversation, and whether each is silent.
        var waiting: [ConversationKey: [EventAddress: Bool]] = [:]
        var requests = JoinRequestQueue()
        var isScheduled = false
        /// Whether a timer waits for the end of the pauses of requests to join.
        var awaitsPause = false
    }

    private let group = MultiThreadedEventLoopGroup(numberOfThreads: 1)
    private let eventLoop: any EventLoop
    private let state: NIOLoopBoundBox<State>
    private let delay: TimeAmount
    private let logger: Logger
    private let makeContext: @Sendable (any AccountReads, UserKey) -> ReadContext
    private let hasReceived: @Sendable (_ n: Int64, _ member: MemberAddress, _ device: DeviceKey) -> Bool
    private let now: @Sendable () -> Int64
    private let deliver: NIOLockedValueBox<(@Sendable ([PushNotice]) -> Void)?>

    init(
        reads: consuming sending any AccountReads, delay: Duration, logger: Logger, now: @escaping @Sendable () -> Int64,
        hasReceived: @escaping @Sendable (_ n: Int64, _ member: MemberAddress, _ device: DeviceKey) -> Bool,
        makeContext: @escaping @Sendable (any AccountReads, UserKey) -> ReadContext
    ) {
        self.eventLoop = self.group.any()
        self.delay = TimeAmount(delay)
        self.logger = logger
        self.now = now
        self.hasReceived = hasReceived
        self.makeContext = makeContext
        self.deliver = .init(nil)
        self.state = .sending(State(reads: reads), to: self.eventLoop)
    }

    /// Starts to deliver notifications. Nothing is read before this call.
    package func start(_ deliver: @escaping @Sendable ([PushNotice]) -> Void) { self.deliver.withLockedValue { $0 = deliver } }

    /// Records the new messages of a batch and its requests to join.
    func committed(_ batch: DecidedBatch) {
        guard self.deliver.withLockedValue({ $0 != nil }) else { return }
        let messages = batch.changes.events.filter { $0.isMessage && $0.sender != UserKey(0) }.map(\.address)
        let requests = Set(batch.changes.members.lazy.filter { $0.state == .requested }.map(\.address.conversation))
        guard !messages.isEmpty || !requests.isEmpty else { return }
        self.eventLoop.execute { self.add(messages, batch.silent, requests) }
    }

    /// Decides the notifications of waiting messages immediately.
    package func decideNow() async { try? await self.eventLoop.submit { self.decide() }.get() }

    /// Stops the thread.
    func close() async {
        try? await self.eventLoop.submit { self.state.value.reads = nil }.get()
        try? await self.group.shutdownGracefully()
    }

    private func add(_ messages: [EventAddress], _ silent: Set<EventAddress>, _ requests: Set<ConversationKey>) {
        for conversation in requests { self.state.value.requests.add(conversation) }
        for address in messages {
            let key = address.conversation
            guard self.state.value.waiting[key] != nil || self.state.value.waiting.count < Self.maximumConversations else { continue }
            self.state.value.waiting[key, default: [:]][address] = silent.contains(address)
        }
        guard !self.state.value.isScheduled, self.state.value.reads != nil else { return }
        self.state.value.isScheduled = true
        self.eventLoop.assumeIsolated().scheduleTask(in: self.delay) { self.decide() }
    }

    private func decide() {
        self.state.value.isScheduled = false
        let waiting = self.state.value.waiting
        self.state.value.waiting = [:]
        guard let reads = self.state.value.reads, let deliver = self.deliver.withLockedValue({ $0 }) else { return }
        for (conversation, messages) in waiting {
            self.deliver(deliver) { try reads.inSnapshot { try self.notices(conversation, messages, reads) } }
        }
        for conversation in self.state.value.requests.takeDue(at: self.now()) {
            let isDelivered = self.deliver(deliver) { try reads.inSnapshot { try self.requestNotices(conversation, reads) } }
            if isDelivered { self.state.value.requests.notified(conversation, at: self.now()) }
        }
        self.awaitPause()
    }

    /// Delivers the notifications that `find` returns. Returns whether there were any.
    @discardableResult
    private func deliver(_ deliver: @Sendable ([PushNotice]) -> Void, _ find: () throws -> [PushNotice]) -> Bool {
        do {
            let notices = try find()
            if !notices.isEmpty { deliver(notices) }
            return !notices.isEmpty
        } catch {
            self.logger.warning("The devices to notify could not be determined", metadata: ["error": "\(error)"])
            return false
        }
    }

    /// Starts the timer that decides the requests to join that wait for the end of a pause.
    private func awaitPause() {
        guard !self.state.value.awaitsPause, let time = self.state.value.requests.nextTime else { return }
        self.state.value.awaitsPause = true
        let wait = TimeAmount.milliseconds(max(1_000, time - self.now()))
        self.eventLoop.assumeIsolated().scheduleTask(in: wait) {
            self.state.value.awaitsPause = false
            self.decide()
        }
    }

    private func notices(_ key: ConversationKey, _ messages: [EventAddress: Bool], _ reads: any AccountReads) throws -> [PushNotice] {
        let seqs = messages.keys.map(\.seq)
        guard let first = seqs.min(), let last = seqs.max() else { return [] }
        var notices: [PushNotice] = []
        for user in try self.candidates(key, messages, reads) {
            let devices = try reads.pushDevices(of: user, limit: Self.devicesOfUser)
            guard !devices.isEmpty, let head = try reads.head(of: user, in: key) else { continue }
            let context = self.makeContext(reads, user)
            let views = try reads.events(in: key, .through(last), as: user, limit: min(Int(clamping: last - first + 1), 50))
            let quiet = try reads.accounts([user]).first?.quietHours
            let newest = views.last { view in
                guard let row = view.row, let isSilent = messages[row.address] else { return false }
                return PushRules.notify(
                    head.member, of: row, isSilent: isSilent, mentionsOnly: head.member.notifiesMentionsOnly, quietHours: quiet,
                    at: self.now())
            }
            guard let newest, let row = newest.row else { continue }
            let recipients = devices.filter { !self.hasReceived(row.n, head.member.address, $0.key) }
            guard !recipients.isEmpty else { continue }
            let content = try self.content(newest, row, head, context)
            for device in recipients {
                notices.append(
                    PushNotice(
                        device: device.key, subscription: device.subscription, content: content,
                        topic: ConversationID(key).description, isUrgent: row.kind == .call))
            }
        }
        return notices
    }

    /// Returns one notification of all open requests for each device of the owner and the admins.
    private func requestNotices(_ key: ConversationKey, _ reads: any AccountReads) throws -> [PushNotice] {
        let open = try reads.members(of: key, in: .requested, after: nil, limit: Self.shownRequests)
        guard !open.members.isEmpty else { return [] }
        var notices: [PushNotice] = []
        for member in try reads.staff(of: key, limit: Self.notifiedStaff) {
            let user = member.address.user
            let devices = try reads.pushDevices(of: user, limit: Self.devicesOfUser)
            let quiet = try reads.accounts([user]).first?.quietHours
            guard !devices.isEmpty, PushRules.notifyOfRequests(member, quietHours: quiet, at: self.now()),
                let head = try reads.head(of: user, in: key), !head.conversation.counters.isDeleted
            else { continue }
            let shown = try open.members.filter { try self.makeContext(reads, $0.address.user).contact(of: user)?.isBlocked != true }
            guard let newest = shown.max(by: { $0.since < $1.since }) else { continue }
            let count = open.total - Int64(open.members.count - shown.count)
            let content = try self.content(of: newest, count: count, head, self.makeContext(reads, user))
            for device in devices {
                notices.append(
                    PushNotice(
                        device: device.key, subscription: device.subscription, content: content,
                        topic: ConversationID(key).description + "-join", isUrgent: false))
            }
        }
        return notices
    }

    /// Returns the members who can be notified: all members or, in a large conversation, the
    /// mentioned ones. A mention of all members counts as a mention of each member if the
    /// conversation has at most `largestOfAll` members.
    private func candidates(
        _ key: ConversationKey, _ messages: [EventAddress: Bool], _ reads: any AccountReads
    ) throws -> [UserKey] {
        let page = try reads.members(of: key, in: .joined, after: nil, limit: Self.largeConversation)
        guard page.next != nil else { return page.members.map(\.address.user) }
        guard let reader = page.members.first?.address.user else { return [] }
        var named: Set<UserKey> = []
        var namesAll = false
        // The row contains the same mentions for every member.
        for address in messages.keys {
            let view = try reads.events(in: key, .from(address.seq), as: reader, limit: 1).first
            named.formUnion(view?.row?.mentions ?? [])
            namesAll = namesAll || view?.row?.mentionsAll == true
        }
        guard namesAll, page.total <= Int64(Self.largestOfAll) else { return named.sorted() }
        var all = page.members.map(\.address.user)
        var next = page.next
        while let cursor = next {
            let page = try reads.members(of: key, in: .joined, after: cursor, limit: Self.largeConversation)
            all += page.members.map(\.address.user)
            next = page.next
        }
        return all
    }

    // MARK: The message

    private func content(_ view: EventView, _ row: EventRow, _ head: HeadRow, _ context: ReadContext) throws -> [UInt8] {
        let preview = try context.preview(view, in: row.conversation)
        let sender = try context.users([row.sender]).first
        let name = sender.map { $0.nick ?? $0.name.description } ?? ""
        let text = preview.text.map(Self.cut) ?? Self.names[row.kind.rawValue] ?? ""
        let isGroup = head.conversation.kind == .group || head.conversation.kind == .channel
        var content: JSONObject = [
            "conv": .string(ConversationID(row.conversation).description), "seq": .integer(row.seq), "n": .integer(row.n),
            "kind": .string(row.kind.rawValue),
        ]
        if let sender { content["sender"] = .string(sender.name.description) }
        // With `nick` and `no_text`, a client builds the body in its language and with the aliases
        // of its user.
        if isGroup, !name.isEmpty { content["nick"] = .string(name) }
        if preview.text == nil { content["no_text"] = true }
        content["title"] = .string(isGroup ? head.conversation.profile.title : name)
        content["body"] = .string(isGroup && !name.isEmpty ? "\(name): \(text)" : text)
        content["badge"] = .integer(try self.badge(of: head.member.address.user, context.reads))
        return try JSONWriter.bytes(of: .object(content))
    }

    /// Returns the content for open requests, of which `newest` is the newest.
    private func content(of newest: MemberRow, count: Int64, _ head: HeadRow, _ context: ReadContext) throws -> [UInt8] {
        var content: JSONObject = [
            "conv": .string(ConversationID(newest.address.conversation).description), "kind": "join_request", "no_text": true,
            "title": .string(head.conversation.profile.title), "count": .integer(count),
            "badge": .integer(try self.badge(of: head.member.address.user, context.reads)),
        ]
        if count == 1, let sender = try context.users([newest.address.user]).first {
            let name = sender.nick ?? sender.name.description
            content["sender"] = .string(sender.name.description)
            content["nick"] = .string(name)
            content["body"] = .string("\(name): Request to join")
        } else {
            content["body"] = .string(count == 1 ? "Request to join" : "\(count) requests to join")
        }
        return try JSONWriter.bytes(of: .object(content))
    }

    /// Returns the number of unread messages in the first `badgeHeads` conversations, except muted
    /// ones.
    private func badge(of user: UserKey, _ reads: any AccountReads) throws -> Int64 {
        let now = self.now()
        let heads = try reads.heads(of: user, after: nil, limit: Self.badgeHeads).heads
        return heads.reduce(0) { $0 + ($1.member.mutedUntil <= now && $1.member.state == .joined ? $1.unread : 0) }
    }

    private static func cut(_ text: String) -> String {
        let scalars = text.unicodeScalars
        return scalars.count <= self.previewScalars ? text : String(String.UnicodeScalarView(scalars.prefix(self.previewScalars))) + "…"
    }

    /// The notification texts of messages that contain no text.
    private static let names = [
        "image": "Photo", "audio": "Voice message", "video": "Video", "file": "File", "location": "Location", "card": "Contact",
        "call": "Call", "poll": "Poll", "bundle": "Forwarded messages", "encrypted": "Encrypted message",
    ]
}

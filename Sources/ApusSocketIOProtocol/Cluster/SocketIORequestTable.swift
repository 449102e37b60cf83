/// The pending requests of one server. A request is a message to the other servers of the cluster
/// that expects responses, or a broadcast that expects acks from clients.
///
/// Each server reports once and announces a number of replies, which arrive with the report or
/// after it, in any order. A request completes with the last reply, or at its deadline with the
/// replies received so far: a server that does not respond does not delay the replies of the others
/// beyond the deadline.
package struct SocketIORequestTable<Reply: Sendable>: Sendable {
    /// The result of a request.
    package struct Outcome: Sendable {
        /// The replies, in the order of arrival.
        package var replies: [Reply]
        /// The number of replies announced by the servers that reported.
        package var announced: Int
        /// The number of servers that did not report.
        package var silentServers: Int
        /// Whether the deadline ended the request.
        package var hasTimedOut: Bool
    }

    package enum Action: Sendable {
        /// The request is complete and was removed.
        case complete(id: String, Outcome)
        /// The request is still pending, or was completed or cancelled before.
        case doNothing
    }

    private struct Request: Sendable {
        /// The servers asked; `nil` until they are known.
        var asked: SocketIOClusterServers?
        /// The servers that reported with their name.
        var reporters: Set<SocketIONodeID> = []
        var reports = 0
        /// The number of servers that left the cluster before they reported.
        var gone = 0
        var announced = 0
        /// The number of outstanding announced replies, by server. Negative while replies have
        /// arrived before the report that announces them.
        var owed: [SocketIONodeID?: Int] = [:]
        /// The number of announced replies that will not arrive.
        var lost = 0
        /// The servers that left, with the number of their replies counted as lost. These replies
        /// may still arrive.
        var departed: [SocketIONodeID: Int] = [:]
        var replies: [Reply] = []

        var silentServers: Int {
            switch self.asked {
            case .count(let count): max(0, count - self.reports) + self.gone
            case .nodes(let nodes): nodes.subtracting(self.reporters).count + self.gone
            case nil: 1
            }
        }

        mutating func left(_ node: SocketIONodeID) {
            guard self.departed[node] == nil else { return }
            if self.reporters.contains(node) {
                let missing = max(0, self.owed.removeValue(forKey: node) ?? 0)
                self.departed[node] = missing
                self.lost += missing
            } else if case .nodes(var nodes) = self.asked, nodes.remove(node) != nil {
                self.asked = .nodes(nodes)
                self.gone += 1
                // Replies that arrived without a report must not count towards the replies of other
                // servers.
                self.announced += max(0, -(self.owed.removeValue(forKey: node) ?? 0))
                self.departed[node] = 0
            }
        }

        var isComplete: Bool {
            self.asked != nil && self.silentServers == self.gone && self.replies.count + self.lost >= self.announced
        }
    }

    /// The maximum number of replies that one server may announce. It exceeds the possible number
    /// of clients, and prevents an overflow of the sum.
    private static var maximumCount: Int { Int(Int32.max) }

    private let maximumRequests: Int
    private var requests: [String: Request] = [:]

    /// Creates an empty table.
    ///
    /// - Parameter maximumRequests: The maximum number of pending requests.
    package init(maximumRequests: Int) {
        self.maximumRequests = maximumRequests
    }

    /// The number of pending requests.
    package var count: Int { self.requests.count }

    /// Starts a request. Returns `false` if too many requests are pending or the id is in use.
    package mutating func begin(_ id: String) -> Bool {
        guard self.requests.count < self.maximumRequests, self.requests[id] == nil else { return false }
        self.requests[id] = Request()
        return true
    }

    /// Records the servers that were asked.
    package mutating func asked(_ id: String, _ servers: SocketIOClusterServers) -> Action {
        let asked: SocketIOClusterServers =
            switch servers {
            case .count(let count): .count(min(max(0, count), Self.maximumCount))
            case .nodes: servers
            }
        return self.change(id) { $0.asked = asked }
    }

    /// Records a server's report, which announces `count` replies and may include some of them.
    /// Ignores a second report of a named server.
    package mutating func receivedReport(_ id: String, from node: SocketIONodeID?, announcing count: Int, _ replies: [Reply] = []) -> Action
    {
        let count = min(max(0, count), Self.maximumCount)
        return self.change(id) { request in
            if let node, request.departed[node] != nil || !request.reporters.insert(node).inserted { return }
            request.reports += 1
            request.announced += count
            request.owed[node, default: 0] += count - replies.count
            request.replies += replies
        }
    }

    /// Records an announced reply. `nil` records that the reply will not arrive.
    package mutating func receivedReply(_ id: String, from node: SocketIONodeID?, _ reply: Reply?) -> Action {
        self.change(id) { request in
            if let node, let missing = request.departed[node] {
                guard let reply, missing > 0 else { return }  // counted when the server left
                request.departed[node] = missing - 1
                request.lost -= 1
                return request.replies.append(reply)
            }
            request.owed[node, default: 0] -= 1
            if let reply { request.replies.append(reply) } else { request.lost += 1 }
        }
    }

    /// Records that a server left. No request waits for it any longer.
    package mutating func left(_ node: SocketIONodeID) -> [Action] {
        self.requests.keys.sorted().map { id in self.change(id) { $0.left(node) } }
    }

    /// Records that the deadline passed. The request completes with the replies so far.
    package mutating func deadlinePassed(_ id: String) -> Action {
        guard let request = self.requests.removeValue(forKey: id) else { return .doNothing }
        return .complete(id: id, Self.outcome(of: request, hasTimedOut: true))
    }

    /// Removes a request whose caller stopped waiting. Returns `false` if it is complete.
    package mutating func cancel(_ id: String) -> Bool { self.requests.removeValue(forKey: id) != nil }

    private mutating func change(_ id: String, _ body: (inout Request) -> Void) -> Action {
        guard let index = self.requests.index(forKey: id) else { return .doNothing }
        body(&self.requests.values[index])
        guard self.requests.values[index].isComplete else { return .doNothing }
        return .complete(id: id, Self.outcome(of: self.requests.remove(at: index).value))
    }

    private static func outcome(of request: Request, hasTimedOut: Bool = false) -> Outcome {
        Outcome(
            replies: request.replies, announced: request.announced, silentServers: request.silentServers, hasTimedOut: hasTimedOut)
    }
}

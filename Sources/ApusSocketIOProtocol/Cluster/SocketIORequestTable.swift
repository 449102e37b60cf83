/// The requests of one server that wait for answers: from the other servers of the cluster, or from the clients a broadcast went to.
///
/// Each server that is asked reports once and says how many replies it announces; the replies come with the report or after it, in any order.
/// A request ends when all of that has come, or by its deadline with what there is, so that a hung server costs its own answers and no more.
package struct SocketIORequestTable<Reply: Sendable>: Sendable {
    /// How a request ended.
    package struct Outcome: Sendable {
        /// In the order of their coming.
        package var replies: [Reply]
        /// The replies announced, by the servers that reported.
        package var announced: Int
        /// The servers that did not report.
        package var silentServers: Int
    }

    package enum Action: Sendable {
        /// The request is over and forgotten.
        case complete(id: String, Outcome)
        /// It goes on; or nobody knows it, because it is over.
        case doNothing
    }

    private struct Request: Sendable {
        /// Who is asked; `nil` until that is known.
        var asked: SocketIOClusterServers?
        /// The servers that reported, as far as they gave their name.
        var reporters: Set<SocketIONodeID> = []
        var reports = 0
        /// Asked, and gone before their report.
        var gone = 0
        var announced = 0
        /// Announced and not yet come, by server; below zero while a reply is ahead of its report.
        var owed: [SocketIONodeID?: Int] = [:]
        /// Announced replies that will not come.
        var lost = 0
        /// The servers that are gone and were counted, with what was taken for lost of theirs: it may only have been late.
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
                // Replies that were ahead of a report that will not come: they are not somebody else's.
                self.announced += max(0, -(self.owed.removeValue(forKey: node) ?? 0))
                self.departed[node] = 0
            }
        }

        var isComplete: Bool {
            self.asked != nil && self.silentServers == self.gone && self.replies.count + self.lost >= self.announced
        }
    }

    /// More clients than a server can have: what others say is summed up, and the sum must not overflow.
    private static var maximumCount: Int { Int(Int32.max) }

    private let maximumRequests: Int
    private var requests: [String: Request] = [:]

    /// - Parameter maximumRequests: The most that wait at once.
    package init(maximumRequests: Int) {
        self.maximumRequests = maximumRequests
    }

    /// The requests that wait.
    package var count: Int { self.requests.count }

    /// Starts a request. `false`: too many wait already, or the id is taken.
    package mutating func begin(_ id: String) -> Bool {
        guard self.requests.count < self.maximumRequests, self.requests[id] == nil else { return false }
        self.requests[id] = Request()
        return true
    }

    /// It is known now who was asked.
    package mutating func asked(_ id: String, _ servers: SocketIOClusterServers) -> Action {
        let asked: SocketIOClusterServers =
            switch servers {
            case .count(let count): .count(min(max(0, count), Self.maximumCount))
            case .nodes: servers
            }
        return self.change(id) { $0.asked = asked }
    }

    /// A server reported: it announces so many replies, and these are some of them. A second report of a server changes nothing.
    package mutating func received(_ id: String, reportFrom node: SocketIONodeID?, announcing count: Int, _ replies: [Reply] = []) -> Action
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

    /// One announced reply came; `nil` when it will not.
    package mutating func received(_ id: String, replyFrom node: SocketIONodeID?, _ reply: Reply?) -> Action {
        self.change(id) { request in
            if let node, let missing = request.departed[node] {
                guard let reply, missing > 0 else { return }  // was counted when the server went
                request.departed[node] = missing - 1
                request.lost -= 1
                return request.replies.append(reply)
            }
            request.owed[node, default: 0] -= 1
            if let reply { request.replies.append(reply) } else { request.lost += 1 }
        }
    }

    /// A server is gone: nothing more is waited for from it.
    package mutating func left(_ node: SocketIONodeID) -> [Action] {
        self.requests.keys.sorted().map { id in self.change(id) { $0.left(node) } }
    }

    /// The deadline passed: the request ends with what there is.
    package mutating func timedOut(_ id: String) -> Action {
        guard let request = self.requests.removeValue(forKey: id) else { return .doNothing }
        return .complete(id: id, Self.outcome(of: request))
    }

    /// Nobody waits any more. `false`: it is over already.
    package mutating func cancel(_ id: String) -> Bool { self.requests.removeValue(forKey: id) != nil }

    private mutating func change(_ id: String, _ body: (inout Request) -> Void) -> Action {
        guard let index = self.requests.index(forKey: id) else { return .doNothing }
        body(&self.requests.values[index])
        guard self.requests.values[index].isComplete else { return .doNothing }
        return .complete(id: id, Self.outcome(of: self.requests.remove(at: index).value))
    }

    private static func outcome(of request: Request) -> Outcome {
        Outcome(replies: request.replies, announced: request.announced, silentServers: request.silentServers)
    }
}

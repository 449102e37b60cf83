import ApusChatCore
package import ApusChatProtocol
import ApusChatStorage
import ApusJSON

/// The verbs that are answered in the same way over Socket.IO and HTTP.
struct VerbTable: Sendable {
    struct Route: Sendable {
        var rate: RateAction
        var answer: Answer
    }

    enum Answer: Sendable {
        /// Answers a verb that only reads.
        case read(@Sendable (JSONValue, ReadContext) throws -> JSONValue)
        /// Creates the change of a verb that changes data.
        case change(@Sendable (JSONValue, Requester) throws -> Change)
    }

    private var routes: [String: Route] = [:]

    init(_ settings: VerbSettings) {
        self.addLog()
        self.addMessages()
        self.addScheduled()
        self.addConversations()
        self.addMembers()
        self.addLinks()
        self.addOwn()
        self.addPeople(settings)
        self.addCalls(settings)
        self.addSearch()
    }

    subscript(verb: String) -> Route? { self.routes[verb] }

    /// Adds a verb that only reads.
    mutating func read<Request, Answer>(
        _ verb: ChatVerb<Request, Answer>, rate: RateAction = .request, _ body: @escaping @Sendable (Request, ReadContext) throws -> Answer
    ) {
        self.routes[verb.name] = Route(
            rate: rate, answer: .read { json, context in try body(try Request(json: json), context).json })
    }

    /// Adds a verb that changes data.
    mutating func change<Request, Answer>(
        _ verb: ChatVerb<Request, Answer>, _ body: @escaping @Sendable (Request, Requester) throws -> Change
    ) {
        self.routes[verb.name] = Route(
            rate: .change, answer: .change { json, requester in try body(try Request(json: json), requester) })
    }

    /// Adds a verb that submits one command. Its answer is the position of the change.
    ///
    /// - Parameter names: Returns the users named in the request. `action` receives their keys.
    mutating func change<Request: ChangingRequest>(
        _ verb: ChatVerb<Request, ChangeAnswer>, names: @escaping @Sendable (Request) -> [UserName] = { _ in [] },
        _ action: @escaping @Sendable (Request, [UserKey?]) throws -> Command.Action
    ) {
        self.change(verb) { (request, requester) throws -> Change in
            let identity = try verb.identity(of: request)
            return Change(
                names: names(request),
                commands: { keys, _ in [requester.command(try action(request, keys), identity)] },
                answer: .place { ChangeAnswer($0, id: request.id).json })
        }
    }
}

/// The operator's settings that affect answers.
package struct VerbSettings: Sendable {
    /// The users whom a search can find.
    package enum Directory: Sendable {
        /// Only the user whose account name matches exactly.
        case exactNames
        /// All users, by any part of a name. Suitable for the members of one organisation.
        case open
    }

    package var directory = Directory.exactNames
    /// The limits in the answer to `hello`.
    package var limits = HelloLimits()
    /// Returns the STUN and TURN servers for a user, and the time at which the credentials expire.
    package var callServers: @Sendable (UserName) -> CallServersAnswer = { _ in CallServersAnswer(servers: [], expiresAt: 0) }
    /// The media server for the calls of larger groups; nil if none is configured.
    package var callBackend: (any CallBackend)?
    package init() {}
}

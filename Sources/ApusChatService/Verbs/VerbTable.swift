import ApusChatCore
package import ApusChatProtocol
import ApusChatStorage
import ApusJSON

/// The verbs that are answered in the same way over Socket.IO and over HTTP.
struct VerbTable: Sendable {
    struct Route: Sendable {
        var rate: RateAction
        var answer: Answer
    }

    enum Answer: Sendable {
        /// Reads only.
        case read(@Sendable (JSONValue, ReadContext) throws -> JSONValue)
        /// Changes something.
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

    /// Adds a verb that changes something.
    mutating func change<Request, Answer>(
        _ verb: ChatVerb<Request, Answer>, _ body: @escaping @Sendable (Request, Requester) throws -> Change
    ) {
        self.routes[verb.name] = Route(
            rate: .change, answer: .change { json, requester in try body(try Request(json: json), requester) })
    }

    /// Adds a verb that is one command, answered by the place of its change.
    ///
    /// - Parameter names: The users that the request names, whose keys `action` gets.
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

/// The settings of an operator that answers depend on.
package struct VerbSettings: Sendable {
    /// Which users a search finds.
    package enum Directory: Sendable {
        /// Users are found by their exact account name.
        case exactNames
        /// Users are found by any part of a name. For the members of one organisation.
        case open
    }

    package var directory = Directory.exactNames
    /// The limits that `hello` answers.
    package var limits = HelloLimits()
    /// The STUN and TURN servers that a caller gets, and the time at which their credentials end.
    package var callServers: @Sendable (UserName) -> CallServersAnswer = { _ in CallServersAnswer(servers: [], expiresAt: 0) }
    package init() {}
}

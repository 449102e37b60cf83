package import ApusChatProtocol
package import ApusJSON

/// Decodes an object with the codec and encodes it again.
package struct Recode: Sendable {
    package var run: @Sendable (JSONValue) throws(WireError) -> JSONValue
    /// The number of stored properties of the type, which tests compare with the described fields.
    package var propertyCount: @Sendable (JSONValue) throws(WireError) -> Int

    package init<Value: WireObject>(_ type: Value.Type) {
        self.run = { value throws(WireError) in try Value(json: value).json }
        self.propertyCount = { value throws(WireError) in Mirror(reflecting: try Value(json: value)).children.count }
    }
}

/// The description of a request and its answer.
package struct Verb: Sendable {
    /// The name of the Socket.IO event, and the last part of the path of the HTTP mirror.
    package var name: String
    package var text: String
    package var request: [Field]
    package var answer: [Field]
    /// The error codes beyond those that every verb can return.
    package var errors: [ChatError.Code]
    /// A request and an answer as JSON text.
    package var examples: (request: String, answer: String)
    package var recodes: (request: Recode?, answer: Recode?)

    package init<Request: WireObject, Answer: WireObject>(
        _ verb: ChatVerb<Request, Answer>, _ text: String, request: [Field], answer: [Field], errors: [ChatError.Code],
        example: String, answers: String
    ) {
        self.name = verb.name
        self.text = text
        self.request = request
        self.answer = answer
        self.errors = errors
        self.examples = (example, answers)
        self.recodes = (Recode(Request.self), Recode(Answer.self))
    }

    /// Whether the verb changes data. Such a request has an id, and the server answers a retry with
    /// the stored answer.
    package var isChanging: Bool { self.request.contains(.id) }

    /// The error codes that every verb can return.
    package static let commonErrors: [ChatError.Code] = [
        .badRequest, .unauthorized, .tooLarge, .unsupported, .tooMany, .unavailable, .internal,
    ]
}

/// A group of verbs under one heading.
package struct VerbGroup: Sendable {
    package var title: String
    package var verbs: [Verb]
}

/// The description of an event that the server sends.
package struct Push: Sendable {
    package var name: String
    package var text: String
    package var fields: [Field]
    package var example: String
    package var recode: Recode?

    package init<Payload: WireObject>(
        _ push: ChatPush<Payload>, _ text: String, _ fields: [Field], example: String
    ) {
        self.name = push.name
        self.text = push.feature.map { "\(text) Only for clients with the feature `\($0.rawValue)`." } ?? text
        self.fields = fields
        self.example = example
        self.recode = Recode(Payload.self)
    }
}

/// The description of a route of the HTTP interface.
package struct Route: Sendable {
    package enum Method: String, Sendable { case get, post }

    package var method: Method
    package var path: String
    package var text: String
    /// Whether the request needs an access token or the cookie.
    package var needsSession: Bool
    package var request: [Field]
    package var answer: [Field]
    package var errors: [ChatError.Code]
    package var examples: (request: String, answer: String)
    package var recodes: (request: Recode?, answer: Recode?)

    package init<Request: WireObject, Answer: WireObject>(
        _ method: Method, _ path: String, _ text: String, needsSession: Bool, request: [Field], _ requestType: Request.Type,
        answer: [Field], _ answerType: Answer.Type, errors: [ChatError.Code], example: String, answers: String
    ) {
        self.method = method
        self.path = path
        self.text = text
        self.needsSession = needsSession
        self.request = request
        self.answer = answer
        self.errors = errors
        self.examples = (example, answers)
        self.recodes = (Recode(Request.self), Recode(Answer.self))
    }

    /// Creates the description of the HTTP route of a verb, `POST /api/chat/NAME`.
    package init(_ verb: Verb) {
        self.method = .post
        self.path = "/api/chat/" + verb.name
        self.text = verb.text
        self.needsSession = true
        self.request = verb.request
        self.answer = verb.answer
        self.errors = verb.errors
        self.examples = verb.examples
        self.recodes = verb.recodes
    }
}

package import NIOHTTP1

/// The deadlines of requests that are passed on, on a connection that nobody else watches.
package struct PassThroughTimeouts: Sendable {
    /// Time a request may take to come whole, from its head on.
    package var requestTimeout: @Sendable (HTTPRequestHead) -> Duration
    /// Time its answer may take, from the end of the request until the client has taken all of the answer.
    package var answerTimeout: Duration

    package init(requestTimeout: @escaping @Sendable (HTTPRequestHead) -> Duration, answerTimeout: Duration) {
        self.requestTimeout = requestTimeout
        self.answerTimeout = answerTimeout
    }
}

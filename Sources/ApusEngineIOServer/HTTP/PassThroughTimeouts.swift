package import NIOHTTP1

/// The deadlines of requests that are passed to another handler, on a connection that no web
/// framework supervises.
package struct PassThroughTimeouts: Sendable {
    /// The maximum time for receiving a complete request, from its head.
    package var requestTimeout: @Sendable (HTTPRequestHead) -> Duration
    /// The maximum time for the response, from the end of the request until the client has read the
    /// response.
    package var answerTimeout: Duration

    package init(requestTimeout: @escaping @Sendable (HTTPRequestHead) -> Duration, answerTimeout: Duration) {
        self.requestTimeout = requestTimeout
        self.answerTimeout = answerTimeout
    }
}

import Logging
import Testing

/// A logger whose messages of the level `info` and above a test can wait for.
struct LogLines: Sendable {
    private struct Line: Sendable {
        var message: String
        var error: String
    }

    private let lines: AsyncStream<Line>
    let logger: Logger

    init() {
        let (lines, continuation) = AsyncStream.makeStream(of: Line.self)
        self.lines = lines
        self.logger = Logger(label: "test") { _ in Handler(lines: continuation) }
    }

    /// Waits for the next message that begins with `start` and whose field `error` contains a text,
    /// without a time limit. Drops the messages before that message.
    ///
    /// - Throws: `CancellationError` if the task is cancelled.
    func next(_ start: String, error: String = "") async throws {
        for await line in self.lines where line.message.hasPrefix(start) && (error.isEmpty || line.error.contains(error)) { return }
        throw CancellationError()
    }

    private struct Handler: LogHandler {
        let lines: AsyncStream<Line>.Continuation
        var logLevel = Logger.Level.info
        var metadata: Logger.Metadata = [:]

        subscript(metadataKey key: String) -> Logger.MetadataValue? {
            get { self.metadata[key] }
            set { self.metadata[key] = newValue }
        }

        func log(event: LogEvent) {
            self.lines.yield(Line(message: event.message.description, error: event.metadata?["error"]?.description ?? ""))
        }
    }
}

import ApusChatCore
import ApusChatProtocol
import ApusChatService
import ApusChatStorage
import ApusJSON
import ApusLinkPreviews
import Logging
import NIOConcurrencyHelpers
import NIOCore
import NIOPosix

/// Adds previews to text messages: requests the page of the first link, and stores the description
/// from its `head` element as a change of the message.
///
/// Pictures of pages are not requested, because the server would have to decode untrusted data.
final class LinkPreviewer: Sendable {
    private struct Job: Sendable {
        var text: CommittedText
        /// The address as written in the text.
        var url: String
    }

    private struct State: Sendable {
        var queue = PreviewQueue<Job>()
        var isClosed = false
    }

    private let fetcher: PageFetcher
    private let clock: SystemClock
    private let logger: Logger
    private let submit: @Sendable (PreviewCommand) -> Void
    private let eventLoop: any EventLoop
    private let state = NIOLockedValueBox(State())

    /// - Parameter submit: Stores a preview.
    init(_ configuration: ChatServerConfiguration, logger: Logger, submit: @escaping @Sendable (PreviewCommand) -> Void) {
        self.fetcher = PageFetcher(configuration)
        self.clock = configuration.environment.clock
        self.logger = logger
        self.submit = submit
        self.eventLoop = MultiThreadedEventLoopGroup.singleton.any()
    }

    /// Adds new texts. This method can be called on any thread.
    func add(_ texts: [CommittedText]) {
        self.eventLoop.execute {
            for text in texts { self.add(text) }
            self.work()
        }
    }

    /// Discards waiting requests. Running requests end without a preview.
    func close() {
        self.state.withLockedValue { state in
            state.isClosed = true
            state.queue = PreviewQueue()
        }
    }

    private func add(_ text: CommittedText) {
        // A forwarded text already contains the preview of the original.
        guard let body = Self.fields(text.body), body["preview"] == nil, let words = body["text"]?.stringValue,
            let url = PageAddress.first(in: words), let address = PageAddress(url)
        else { return }
        let job = Job(text: text, url: url)
        let addition = self.state.withLockedValue { state in
            state.isClosed ? .refused : state.queue.add(job, for: address, of: text.sender.rawValue, at: self.clock.monotonic())
        }
        if case .known(let facts?) = addition { self.store(facts, for: job) }
    }

    private func work() {
        let addresses = self.state.withLockedValue { $0.isClosed ? [] : $0.queue.next() }
        for address in addresses {
            Task {
                var facts: PageFacts?
                do {
                    facts = try await self.fetcher.facts(of: address)
                } catch {
                    self.logger.debug(
                        "The page of a link could not be requested", metadata: ["page.host": "\(address.host)", "error": "\(error)"])
                }
                let result = facts
                let jobs = self.state.withLockedValue { $0.queue.ended(address, result, at: self.clock.monotonic()) }
                if let facts { for job in jobs { self.store(facts, for: job) } }
                self.work()
            }
        }
    }

    private func store(_ facts: PageFacts, for job: Job) {
        guard var body = Self.fields(job.text.body), let title = facts.title else { return }
        let preview = LinkPreview(url: job.url, title: title, text: facts.text, site: facts.site)
        body["preview"] = preview.json
        guard let after = try? JSONValue.object(body).jsonString(), let change = try? PreviewBody(preview: preview).json.jsonString() else {
            return
        }
        self.submit(PreviewCommand(target: job.text.target, before: job.text.body, after: after, change: change))
    }

    private static func fields(_ body: String) -> JSONObject? { (try? JSONValue(jsonString: body))?.objectValue }
}

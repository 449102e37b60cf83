/// Decides which pages are requested, and when.
///
/// Texts with the same address share one request. Each host receives at most one request at a time.
/// Times are milliseconds of a monotonic clock.
package struct PreviewQueue<Job: Sendable>: Sendable {
    package struct Limits: Sendable {
        /// The maximum number of concurrent requests.
        package var requests = 4
        /// The maximum number of addresses that wait or are being requested. Further texts receive
        /// no preview.
        package var addresses = 200
        /// The maximum number of texts that wait for one address.
        package var jobs = 100
        /// The maximum number of requests for texts of one account in each window.
        package var accountRequests = 30
        /// The length of the window of `accountRequests`, in milliseconds.
        package var window: Int64 = 600_000
        /// The maximum number of cached pages.
        package var pages = 500
        /// The time for which a page with a preview is cached, in milliseconds.
        package var lifetime: Int64 = 3_600_000
        /// The time for which a page without a preview is not requested again, in milliseconds.
        package var failureLifetime: Int64 = 300_000
        package init() {}
    }

    package enum Addition: Equatable, Sendable {
        /// The page is cached. The value is `nil` if the page has no preview.
        case known(PageFacts?)
        case queued
        /// A limit is reached. The text receives no preview.
        case refused
    }

    private struct Page: Sendable {
        var facts: PageFacts?
        var expiresAt: Int64
    }

    private let limits: Limits
    private var waiting: [PageAddress] = []
    private var running: Set<PageAddress> = []
    private var jobs: [PageAddress: [Job]] = [:]
    private var pages: [PageAddress: Page] = [:]
    /// The addresses in `pages`, oldest first.
    private var order: [PageAddress] = []
    private var counts: [Int64: Int] = [:]
    private var windowEnd: Int64 = 0

    package init(limits: Limits = Limits()) { self.limits = limits }

    /// Adds a text.
    ///
    /// - Parameter account: The account of the sender.
    package mutating func add(_ job: Job, for address: PageAddress, of account: Int64, at time: Int64) -> Addition {
        if let page = self.pages[address], page.expiresAt > time { return .known(page.facts) }
        if let jobs = self.jobs[address] {
            guard jobs.count < self.limits.jobs else { return .refused }
            self.jobs[address, default: []].append(job)
            return .queued
        }
        if time >= self.windowEnd {
            self.counts = [:]
            self.windowEnd = time + self.limits.window
        }
        let count = self.counts[account, default: 0]
        guard self.jobs.count < self.limits.addresses, count < self.limits.accountRequests else { return .refused }
        self.counts[account] = count + 1
        self.jobs[address] = [job]
        self.waiting.append(address)
        return .queued
    }

    /// Returns the pages to request now.
    package mutating func next() -> [PageAddress] {
        var hosts = Set(self.running.map(\.host))
        var started: [PageAddress] = []
        for address in self.waiting where self.running.count < self.limits.requests && hosts.insert(address.host).inserted {
            self.running.insert(address)
            started.append(address)
        }
        self.waiting.removeAll { started.contains($0) }
        return started
    }

    /// Handles the end of a request. Returns the texts that waited for the page.
    package mutating func ended(_ address: PageAddress, _ facts: PageFacts?, at time: Int64) -> [Job] {
        guard self.running.remove(address) != nil else { return [] }
        if self.pages[address] != nil { self.order.removeAll { $0 == address } }
        self.order.append(address)
        self.pages[address] = Page(facts: facts, expiresAt: time + (facts == nil ? self.limits.failureLifetime : self.limits.lifetime))
        if self.order.count > self.limits.pages { self.pages[self.order.removeFirst()] = nil }
        return self.jobs.removeValue(forKey: address) ?? []
    }
}

import Testing

@testable import ApusLinkPreviews

@Suite struct PreviewQueueTests {
    private var queue = PreviewQueue<Int>(
        limits: {
            var limits = PreviewQueue<Int>.Limits()
            (limits.requests, limits.addresses, limits.jobs) = (2, 4, 2)
            (limits.accountRequests, limits.window) = (3, 1_000)
            (limits.pages, limits.lifetime, limits.failureLifetime) = (2, 100, 10)
            return limits
        }())

    private func address(_ text: String) throws -> PageAddress { try #require(PageAddress(text)) }

    private func facts(_ title: String) -> PageFacts {
        var facts = PageFacts()
        facts.title = title
        return facts
    }

    @Test mutating func textsWithTheSameAddressShareOneRequest() throws {
        let page = try self.address("https://a.example/1")
        #expect(self.queue.add(1, for: page, of: 1, at: 0) == .queued)
        #expect(self.queue.next() == [page])
        #expect(self.queue.add(2, for: page, of: 2, at: 0) == .queued)
        #expect(self.queue.add(3, for: page, of: 3, at: 0) == .refused, "at most two texts wait for a page")
        #expect(self.queue.next().isEmpty)
        #expect(self.queue.ended(page, self.facts("A"), at: 5) == [1, 2])
        #expect(self.queue.ended(page, nil, at: 5).isEmpty)
        #expect(self.queue.add(4, for: page, of: 1, at: 104) == .known(self.facts("A")))
        #expect(self.queue.add(5, for: page, of: 1, at: 105) == .queued)
    }

    @Test mutating func aHostGetsOneRequestAtATime() throws {
        let pages = try ["https://a.example/1", "https://a.example/2", "https://b.example/", "https://c.example/"].map(self.address)
        for (index, page) in pages.enumerated() { #expect(self.queue.add(index, for: page, of: Int64(index), at: 0) == .queued) }
        #expect(self.queue.add(9, for: try self.address("https://d.example/"), of: 9, at: 0) == .refused, "at most four pages")
        #expect(self.queue.next() == [pages[0], pages[2]])
        #expect(self.queue.ended(pages[2], nil, at: 0) == [2])
        #expect(self.queue.next() == [pages[3]])
        #expect(self.queue.ended(pages[0], nil, at: 0) == [0])
        #expect(self.queue.next() == [pages[1]])
        // A page without a preview is not requested again at once.
        #expect(self.queue.add(7, for: pages[0], of: 7, at: 9) == .known(nil))
        #expect(self.queue.add(7, for: pages[0], of: 7, at: 10) == .queued)
    }

    @Test mutating func anAccountCausesABoundedNumberOfRequests() throws {
        for number in 0..<3 {
            let page = try self.address("https://a.example/\(number)")
            #expect(self.queue.add(number, for: page, of: 1, at: 0) == .queued)
            #expect(self.queue.next() == [page])
            _ = self.queue.ended(page, nil, at: 0)
        }
        let other = try self.address("https://b.example/")
        #expect(self.queue.add(4, for: other, of: 1, at: 999) == .refused)
        #expect(self.queue.add(4, for: other, of: 2, at: 999) == .queued)
        #expect(self.queue.add(5, for: try self.address("https://c.example/"), of: 1, at: 1_000) == .queued)
        // The queue keeps two results: the oldest one was removed.
        #expect(self.queue.add(6, for: try self.address("https://a.example/2"), of: 3, at: 5) == .known(nil))
        #expect(self.queue.add(6, for: try self.address("https://a.example/0"), of: 3, at: 5) == .queued)
    }
}

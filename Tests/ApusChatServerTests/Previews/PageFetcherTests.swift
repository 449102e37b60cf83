import ApusConnectivity
import ApusLinkPreviews
import NIOHTTP1
import Testing

@testable import ApusChatServer

/// Requests of pages whose addresses a user chose.
@Suite struct PageFetcherTests {
    /// - Parameter timeout: The default is longer than a test.
    private static func fetcher(networks: [String] = ["127.0.0.1"], timeout: Duration = .seconds(600)) -> PageFetcher {
        var configuration = ChatServerConfiguration()
        configuration.environment.outgoingNetworks = networks
        configuration.environment.pageTimeouts = (timeout, timeout)
        return PageFetcher(configuration)
    }

    private func facts(_ url: String, _ fetcher: PageFetcher = Self.fetcher()) async throws -> PageFacts? {
        try await fetcher.facts(of: try #require(PageAddress(url)))
    }

    private func expectNothing(
        _ url: String, _ fetcher: PageFetcher = Self.fetcher(), sourceLocation: SourceLocation = #_sourceLocation
    ) async throws {
        let facts = try await self.facts(url, fetcher)
        #expect(facts == nil, sourceLocation: sourceLocation)
    }

    private func with(_ pages: [String: PageHost.Page], _ body: (PageHost) async throws -> Void) async throws {
        let host = try await PageHost(pages)
        do { try await body(host) } catch {
            try await host.close()
            throw error
        }
        try await host.close()
    }

    @Test func redirectsLeadToThePage() async throws {
        let pages: [String: PageHost.Page] = [
            "/1": .redirect("/2", status: 301), "/2": .redirect("3?a=b#c", status: 307), "/3?a=b": .html("<title>Arrived</title>"),
        ]
        try await self.with(pages) { host in
            #expect(try await self.facts(host.url("/1"))?.title == "Arrived")
            let request = try #require(host.requests.first)
            #expect(request.headers["Host"] == ["127.0.0.1:\(host.port)"])
            #expect(request.headers["Cookie"].isEmpty && request.headers["Authorization"].isEmpty && request.headers["Referer"].isEmpty)
        }
    }

    @Test func redirectsWithoutAnEndAreFollowedThreeTimes() async throws {
        try await self.with(["/": .redirect("/")]) { host in
            try await self.expectNothing(host.url("/"))
            #expect(host.requests.count == 1 + PageFetcher.redirects)
        }
    }

    /// A public page must not redirect to an address in the server's private network.
    @Test(arguments: [
        "http://[::1]:PORT/private", "http://10.0.0.1/", "http://169.254.169.254/latest/meta-data", "//127.0.0.2:PORT/private",
        "http://[::ffff:10.0.0.1]/", "http://0.0.0.0:PORT/private", "http://224.0.0.1/", "http://2130706434:PORT/private",
    ])
    func aRedirectToAnAddressThatIsNotPermittedIsNotFollowed(_ location: String) async throws {
        try await self.with(["/private": .html("<title>secret</title>")]) { host in
            host["/"] = .redirect(location.replacing("PORT", with: String(host.port)))
            await #expect(throws: (any Error).self) { try await self.facts(host.url("/")) }
            #expect(host.requests.map(\.uri) == ["/"])
        }
    }

    @Test(arguments: [
        "file:///etc/passwd", "ftp://127.0.0.1/", "http://user:word@127.0.0.1/", "javascript:alert(1)", "gopher://127.0.0.1:1/",
    ])
    func aRedirectToAnotherSchemeOrWithCredentialsIsNotFollowed(_ location: String) async throws {
        try await self.with(["/": .redirect(location)]) { host in
            try await self.expectNothing(host.url("/"))
            #expect(host.requests.count == 1)
        }
    }

    /// No network is configured: neither private addresses nor ports except 80 and 443 are used.
    @Test(arguments: ["127.0.0.1", "localhost", "[::1]", "[::ffff:127.0.0.1]", "2130706433", "0x7f.1", "127.1"])
    func neitherPrivateAddressesNorOtherPortsAreRequested(_ name: String) async throws {
        let fetcher = Self.fetcher(networks: [])
        try await self.with(["/": .html("<title>secret</title>")]) { host in
            try await self.expectNothing(host.url("/", host: name), fetcher)
            await #expect(throws: (any Error).self) { try await self.facts("http://\(name)/", fetcher) }
            await #expect(throws: (any Error).self) { try await self.facts("https://\(name)/", fetcher) }
            #expect(host.requests.isEmpty)
        }
    }

    @Test func aLongPageIsReadUpToTheLimit() async throws {
        let filler = String(repeating: "<!-- 0123456789 -->", count: 100_000)
        let pages: [String: PageHost.Page] = [
            "/first": .html("<title>First</title>" + filler), "/last": .html(filler + "<title>Last</title>"),
        ]
        try await self.with(pages) { host in
            #expect(try await self.facts(host.url("/first"))?.title == "First")
            try await self.expectNothing(host.url("/last"))
        }
    }

    @Test func aPageThatDoesNotAnswerEndsAtTheTimeLimit() async throws {
        try await self.with(["/": PageHost.Page(isSilent: true)]) { host in
            let error = await #expect(throws: ConnectivityError.self) {
                try await self.facts(host.url("/"), Self.fetcher(timeout: .milliseconds(100)))
            }
            #expect(error?.code == .timeout)
        }
    }

    @Test(arguments: ["application/pdf", "image/svg+xml", "text/plain", "application/json", "text/htmlx", ""])
    func otherContentThanAPageHasNoPreview(_ type: String) async throws {
        let page = PageHost.Page(headers: type.isEmpty ? [] : [("Content-Type", type)], body: "<title>no</title>")
        try await self.with(["/": page, "/gone": PageHost.Page(status: 404, body: "<title>no</title>")]) { host in
            try await self.expectNothing(host.url("/"))
            try await self.expectNothing(host.url("/gone"))
        }
    }
}

import Testing

@testable import ApusLinkPreviews

@Suite struct PageFactsTests {
    private func facts(_ html: String, contentType: String? = "text/html; charset=utf-8") -> PageFacts? {
        PageFacts(Array(html.utf8), contentType: contentType)
    }

    @Test func openGraphPrecedesOtherNames() throws {
        let page = try #require(
            self.facts(
                """
                <!doctype html><html><head><!-- <title>no</title> --><title>Plain &amp; simple</title>
                <script>document.write("<title>no</title>")</script>
                <meta name=description content='A page'>
                <META PROPERTY="og:title" CONTENT="Swifts &mdash; in the air&#33; &#x1F426;">
                <meta content="Apus apus" property=og:site_name />
                <meta property="og:image" content="/swift.png?a=1&amp;b=2"><meta property="og:title" content="second">
                </head><body><meta property="og:description" content="too late">
                """))
        #expect(page.title == "Swifts — in the air! 🐦")
        #expect(page.text == "A page")
        #expect(page.site == "Apus apus")
        #expect(page.picture == "/swift.png?a=1&b=2")
        #expect(self.facts("<title> 雨燕\n  在吗 </title>")?.title == "雨燕 在吗")
    }

    @Test(
        arguments: [
            "", "<", "<!", "<!--", "<title", "<title>", "<meta", "<meta name", "<meta name=", "<meta name=\"og:title", "</", "</head",
            "<meta property='og:title' content='", "<script><title>x</title>", "<!-- <title>x</title>", "<title> \u{202E}\u{0007} </title>",
            "<body><title>x</title>", "no markup", "<<<<>>>>", "<a =\"<title>x</title>\"", "<style><title>x</title></sty",
        ])
    func pagesWithoutATitleHaveNoPreview(html: String) { #expect(self.facts(html) == nil) }

    @Test(
        arguments: [
            ("<title>a</title", "a"), ("<title>a<b>c</title>", "a<b>c"), ("<title>a</titles></TITLE >", "a</titles>"),
            ("<p></p><title>x</title>", "x"), ("<title>&unknown; &#xFFFFFFFF; &#0; &</title>", "&unknown; &#xFFFFFFFF; &"),
            ("<script></script><title>t</title>", "t"), ("<meta content=a property=og:title>", "a"),
            ("<meta property=og:title content=\"\"><title>t</title>", "t"), ("<title>evil\u{202E}gpj.exe</title>", "evilgpj.exe"),
            ("<img alt=\">\"><title>t</title>", "t"), ("<title>unclosed", "unclosed"),
        ])
    func malformedMarkupIsReadAsBrowsersDo(html: String, title: String) { #expect(self.facts(html)?.title == title) }

    @Test func hugePartsAreCut() throws {
        let long = String(repeating: "x", count: 200_000)
        let page = try #require(self.facts("<meta \(long)=\(long) property=og:title content=\"\(long)\"><title>t</title>"))
        #expect(page.title?.unicodeScalars.count == PageFacts.titleLength)
        #expect(page.title?.last == "…")
        #expect(self.facts("<title>" + String(repeating: "a ", count: 100_000))?.title?.unicodeScalars.count ?? 0 <= PageFacts.titleLength)
        let many = (0..<5_000).map { "<meta name=n\($0) content=x>" }.joined()
        #expect(self.facts(many + "<title>t</title>")?.title == "t")
    }

    /// Markup whose parts never end. A reader that begins again at each of them needs minutes.
    @Test(arguments: ["<", "<!--", "<a ", "<title>", "</", "&", "<script>", "<meta content=\"", "-->", "<!"])
    func readingIsLinear(part: String) {
        let time = ContinuousClock().measure { _ = self.facts(String(repeating: part, count: 524_288 / part.utf8.count)) }
        #expect(time < .seconds(60))
    }

    @Test func textIsShownInKnownEncodingsOnly() {
        let latin: [UInt8] = Array("<title>caf".utf8) + [0xE9, 0x20, 0x80] + Array("</title>".utf8)
        #expect(PageFacts(latin, contentType: "text/html; charset=ISO-8859-1")?.title == "café €")
        #expect(PageFacts(Array("<meta charset='windows-1252'>".utf8) + latin, contentType: nil)?.title == "café €")
        #expect(PageFacts(latin, contentType: "text/html") == nil)
        let gbk: [UInt8] = Array("<title>".utf8) + [0xD6, 0xD0] + Array("</title>".utf8)
        #expect(PageFacts(gbk, contentType: "text/html; charset=gbk") == nil)
        #expect(PageFacts(Array("<title>ascii</title>".utf8), contentType: "text/html; charset=gbk")?.title == "ascii")
        let utf16: [UInt8] = "\u{FEFF}<title>雨</title>".utf16.reduce(into: []) { $0 += [UInt8($1 & 0xFF), UInt8($1 >> 8)] }
        #expect(PageFacts(utf16, contentType: nil)?.title == "雨")
        // Cut within a character.
        #expect(PageFacts(Array("<title>t</title>雨".utf8).dropLast(), contentType: nil)?.title == "t")
    }
}

@Suite struct PageAddressTests {
    @Test(
        arguments: [
            ("http://Example.org", "http://example.org/"), ("https://example.org:443/a b?ü#x", "https://example.org/a%20b?%C3%BC"),
            ("http://a\\@b/", "http://a/%5C@b/"), ("HTTP://[2001:DB8::1]:8080?x", "http://[2001:db8::1]:8080/?x"),
            ("https://a.b/\"<>", "https://a.b/%22%3C%3E"),
        ])
    func addressesHaveOneForm(url: String, form: String) { #expect(PageAddress(url)?.description == form) }

    @Test(
        arguments: [
            "", "http://", "http:///x", "ftp://a/", "javascript:alert(1)", "http://user:pass@a/", "http://a:0/", "http://a:99999/",
            "http://a:x/",
            "http://[::1", "http://[::1]x/", "http://[a]/", "http://ex ample/", "http://a/\r\nX: y", "http://ä.de/", "file:///etc",
            "http://" + String(repeating: "a", count: 254) + "/", "http://a/" + String(repeating: "b", count: 2_000), "https:/a/b", "//a/b",
            "http\u{1A}\u{0F}\u{0F}a/", "http:\u{0F}\u{0F}a/", "\u{48}TTP\u{1A}//a", "http://a b/", "http://[1:2]3/", "http://[::1]:/x:y\n",
            "http://a:123456/", "http://a:+80/", "http://[g::1]/", "http://.[::1]/",
        ])
    func otherTextsAreNotAddresses(url: String) { #expect(PageAddress(url) == nil) }

    @Test(
        arguments: [
            ("/x", "https://a.org/x"), ("//b.org/y", "https://b.org/y"), ("http://c.org", "http://c.org/"),
            ("z?q", "https://a.org/dir/z?q"),
            ("?n", "https://a.org/dir/page?n"), ("", "https://a.org/dir/page?q=1"), ("#part", "https://a.org/dir/page?q=1"),
            ("x#y", "https://a.org/dir/x"), ("?#y", "https://a.org/dir/page?"),
            (" /x", "https://a.org/x"), ("./x", "https://a.org/dir/./x"), ("/a?b#c", "https://a.org/a?b"),
            ("HTTPS://B.org", "https://b.org/"), ("//", nil), ("javascript:alert(1)", nil), ("data:text/html,x", nil),
            ("file:///etc/passwd", nil), ("/a\nb", nil), ("http:x", nil),
        ] as [(String, String?)])
    func referencesAreResolved(reference: String, url: String?) throws {
        let base = try #require(PageAddress("https://a.org/dir/page?q=1"))
        #expect(base.resolving(reference)?.description == url)
    }

    @Test(
        arguments: [
            ("see https://a.org/x.", "https://a.org/x"), ("(https://a.org/b_(c))", "https://a.org/b_(c)"),
            ("xhttp://a.org http://b.org", "http://b.org"),
            ("雨燕https://a.org/雨，然后", "https://a.org/雨"), ("<https://a.org>", "https://a.org"), ("http https:// no", nil), ("", nil),
            ("ftp://a.org", nil), ("HTTPS://A.org!", "HTTPS://A.org"), ("Https://a.org", "Https://a.org"),
            ("HTTP://a.org http://b.org", "HTTP://a.org"), ("hthttp://a.org http://b.org", "http://b.org"),
            ("雨http://a.org", "http://a.org"),
            ("1http://a.org", nil), ("_http://a.org", "http://a.org"), ("see http://a.org/x...", "http://a.org/x"),
            ("http://a.org/_x_*", "http://a.org/_x"),
            ("[http://a.org/[1]]", "http://a.org/[1]"), ("(see http://a.org/)", "http://a.org/"),
            ("http://user@a.org http://b.org/", "http://b.org/"), ("https://a.org/?a=b&c=d, e", "https://a.org/?a=b&c=d"),
        ] as [(String, String?)])
    func theFirstLinkOfATextIsFound(text: String, url: String?) { #expect(PageAddress.first(in: text) == url) }
}

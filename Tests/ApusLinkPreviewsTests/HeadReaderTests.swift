import Testing

@testable import ApusLinkPreviews

/// The tokens of a head, as WHATWG HTML, 13.2.5 reads them.
@Suite struct HeadReaderTests {
    private func title(_ html: String) -> String? {
        var reader = HeadReader(html)
        return reader.read().title
    }

    private func values(_ html: String) -> [String: String] {
        var reader = HeadReader(html)
        return reader.read().values
    }

    @Test(
        arguments: [
            ("<!--><title>a</title>", "a"), ("<!---><title>a</title>", "a"), ("<!----><title>a</title>", "a"),
            ("<!-- > -- > --><title>a</title>", "a"), ("<!--[if IE]><title>no</title><![endif]--><title>a</title>", "a"),
            ("<!--[if !IE]><!--><title>a</title><!--<![endif]-->", "a"), ("<!-x><title>a</title>", "a"),
            ("<!DOCTYPE html><title>a</title>", "a"), ("<?xml version='1.0'?><title>a</title>", "a"), ("</><title>a</title>", "a"),
            ("</ head><title>a</title>", "a"), ("</heads><title>a</title>", "a"), ("1 < 2 <title>a</title>", "a"),
            ("<TITLE\n>a</TITLE\n>", "a"), ("<title lang='>'>a</title>", "a"), ("<title/>a</title>", "a"),
            ("<titles>no</titles><title>a", "a"),
            ("<title>a</title><title>b</title>", "a"), ("<title></title><title>b</title>", ""), ("<title><!-- a --></title>", "<!-- a -->"),
            ("<title>a</title\u{0C}x>", "a"), ("<title>a</title/>", "a"), ("<title>a</ title></title>", "a</ title>"),
        ])
    func theTitleIsTheTextOfItsElement(html: String, title: String) { #expect(self.title(html) == title) }

    @Test(arguments: ["script", "style", "noscript", "template", "svg", "textarea", "xmp", "iframe"])
    func textElementsHaveNoMarkup(name: String) {
        #expect(self.title("<\(name)><title>no</title></\(name)><title>a</title>") == "a")
        #expect(self.title("<\(name) a='>'><title>no</title></\(name.uppercased()) ><title>a</title>") == "a")
        #expect(self.title("<\(name)><title>no</title></\(name)x></\(name)><title>a</title>") == "a")
        #expect(self.title("<\(name)><title>no</title>") == nil, "an element without an end has the rest of the page")
    }

    @Test(arguments: ["<body><title>a</title>", "<BODY class=x><title>a</title>", "</head><title>a</title>", "</HEAD ><title>a</title>"])
    func theHeadEnds(html: String) { #expect(self.title(html) == nil) }

    // MARK: Attributes

    @Test(
        arguments: [
            ("<meta name=a content=b>", ["a": "b"]), ("<meta name='a' content=\"b\">", ["a": "b"]), ("<meta content=b name=a>", ["a": "b"]),
            ("<meta name = a content = b >", ["a": "b"]), ("<meta\nname\t=\n'a'\rcontent=b/>", ["a": "b/"]),
            ("<meta name=a content=b />", ["a": "b"]), ("<META NAME=A CONTENT=B>", ["a": "B"]), ("<meta name=a content=b c>", ["a": "b"]),
            ("<meta name=a name=x content=b content=y>", ["a": "b"]), ("<meta name=a content=b><meta name=A content=c>", ["a": "b"]),
            ("<meta property=p name=n content=b>", ["p": "b"]), ("<meta name=a>", [:]), ("<meta content=b>", [:]),
            ("<meta name=a content>", ["a": ""]), ("<meta name=a content=''>", ["a": ""]), ("<meta name=a content='b>c'>", ["a": "b>c"]),
            ("<meta name=a content='b\"c'>", ["a": "b\"c"]), ("<meta =x name=a content=b>", ["a": "b"]),
            ("<meta name=a content=b=c>", ["a": "b=c"]),
            ("<metas name=a content=b>", [:]), ("<meta/name=a content=b>", ["a": "b"]),
            ("<meta name=a content=\"b", ["a": "b"]), ("<link name=a content=b>", [:]),
            ("<meta name=a content=b><body><meta name=c content=d>", ["a": "b"]),
        ] as [(String, [String: String])])
    func valuesAreReadByTheirNames(html: String, values: [String: String]) { #expect(self.values(html) == values) }

    @Test func valuesAndNamesAreBounded() {
        let long = String(repeating: "v", count: 8_001)
        #expect(self.values("<meta name=a content=\(long)>")["a"]?.utf8.count == 8_000)
        #expect(self.title("<title>\(long)</title>")?.utf8.count == 8_000)
        // The element keeps ten attributes; the names of other ones do not count.
        let others = (0..<50).map { "x\($0)=y" }.joined(separator: " ")
        #expect(self.values("<meta \(others) name=a content=b>") == ["a": "b"])
        let many = (0..<300).map { "<meta name=n\($0) content=x>" }.joined()
        let values = self.values(many)
        #expect(values.count == 200 && values["n0"] == "x" && values["n199"] == "x" && values["n200"] == nil)
    }

    /// A page that is cut anywhere has a prefix of its title, or none.
    @Test func aTruncatedPageIsReadToItsEnd() {
        let html =
            "<!doctype html><head><meta name=description content='d'><!-- c --><title lang=en>Apus apus</title><meta name=a content=b>"
        for count in 0...html.utf8.count {
            let cut = String(decoding: html.utf8.prefix(count), as: UTF8.self)
            if let title = self.title(cut) { #expect("Apus apus</title".hasPrefix(title), "\(count)") }
            for value in self.values(cut).values { #expect(["d", "b", ""].contains(value), "\(count)") }
        }
    }
}

/// The precedence of the names of a page's values.
@Suite struct PageFactsNameTests {
    private func facts(_ values: [(String, String)], title: String = "") -> PageFacts? {
        let metas = values.map { "<meta name='\($0.0)' content='\($0.1)'>" }.joined()
        return PageFacts(Array((metas + "<title>\(title)</title>").utf8), contentType: nil)
    }

    @Test(
        arguments: [
            (["og:title", "twitter:title"], "title"), (["og:description", "twitter:description", "description"], "text"),
            (["og:site_name", "application-name"], "site"),
            (["og:image:secure_url", "og:image", "og:image:url", "twitter:image"], "picture"),
        ])
    func theFirstNameWithAValueIsTaken(names: [String], property: String) {
        for first in names.indices {
            // The names are in reverse order, and those before the first have no visible value.
            let values = names.enumerated().reversed().map { index, name in (name, index < first ? " \u{200E} " : "v\(index)") }
            let facts = self.facts(values, title: "t")
            let value =
                switch property {
                case "title": facts?.title
                case "text": facts?.text
                case "site": facts?.site
                default: facts?.picture
                }
            #expect(value == "v\(first)", "\(names[first])")
        }
    }

    @Test func aPageWithoutATitleHasNoFacts() {
        #expect(self.facts([("og:description", "d"), ("og:image", "/i.png")]) == nil)
        #expect(self.facts([("og:title", "t")])?.title == "t" && self.facts([("twitter:title", "t")])?.title == "t")
        #expect(self.facts([], title: "t") != nil && self.facts([], title: " &#8206; ") == nil)
    }

    @Test func lengthsMatchTheirFields() throws {
        let long = String(repeating: "x", count: 3_000)
        let facts = try #require(
            self.facts([("og:title", long), ("og:description", long), ("og:site_name", long), ("og:image", long)]))
        #expect(facts.title?.count == 300 && facts.text?.count == 1_000 && facts.site?.count == 100 && facts.picture?.count == 2_000)
        for text in [facts.title, facts.text, facts.site, facts.picture] { #expect(text?.last == "…") }
    }
}

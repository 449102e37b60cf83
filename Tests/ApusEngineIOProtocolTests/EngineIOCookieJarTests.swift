import Testing

@testable import ApusEngineIOProtocol

@Suite struct EngineIOCookieJarTests {
    private let target = "/socket.io/?EIO=4"

    /// Returns the cookies that a jar sends with a request, after it received these fields.
    private func sent(
        _ fields: [String], host: String = "www.example.com", target: String = "/socket.io/?EIO=4", isSecure: Bool = true,
        after seconds: Int = 0
    ) -> String {
        var jar = EngineIOCookieJar(host: host)
        for field in fields { jar.receivedSetCookie(field, target: self.target, now: 1_000_000) }
        return jar.cookies(target: target, isSecure: isSecure, now: 1_000_000 + seconds).map { "\($0.name)=\($0.value)" }
            .joined(separator: "; ")
    }

    @Test func namesAndValuesAreTaken() {
        #expect(self.sent(["a=b"]) == "a=b")
        #expect(self.sent([" a = b c ; HttpOnly; SameSite=Lax"]) == "a=b c")
        #expect(self.sent(["a=b=c"]) == "a=b=c")
        #expect(self.sent(["a="]) == "a=")
        #expect(self.sent(["a=1", "b=2", "a=3"]) == "a=3; b=2")
        for field in ["", "a", "=b", ";", "a=b\u{0}", "a=b\r\nc"] { #expect(self.sent([field]) == "") }
    }

    /// `String` takes U+037E for a semicolon, and combines a mark with the character before it.
    @Test func namesAndSeparatorsAreBytes() {
        #expect(self.sent(["a=b\u{37E} Path=/other"]) == "a=b\u{37E} Path=/other")
        #expect(self.sent(["a=b;\u{301} Path=/other"]) == "a=b")
        #expect(self.sent(["a=\u{338}b"]) == "a=\u{338}b")
        #expect(self.sent(["é=1", "e\u{301}=2"]) == "é=1; e\u{301}=2")
        #expect(self.sent(["\u{212A}=1; Max-Age=9", "K=2"]) == "\u{212A}=1; K=2")
        #expect(self.sent(["a=1; Domain=\u{212A}.com"], host: "k.com") == "")
        #expect(self.sent(["a=1; Path=/\u{301}"], target: "/\u{301}/x") == "a=1")
    }

    @Test func pathsAreHeeded() {
        #expect(self.sent(["a=1; Path=/"]) == "a=1")
        #expect(self.sent(["a=1; Path=/socket.io"]) == "a=1")
        #expect(self.sent(["a=1; Path=/socket"]) == "")
        #expect(self.sent(["a=1; Path=/other"]) == "")
        #expect(self.sent(["a=1; Path=x"]) == "a=1")
        #expect(self.sent(["a=1"], target: "/socket.io/x?y") == "a=1")
        #expect(self.sent(["a=1"], target: "/") == "")
        // Longer paths come first; both cookies are sent.
        #expect(self.sent(["a=1; Path=/", "a=2; Path=/socket.io/"]) == "a=2; a=1")
    }

    @Test func secureCookiesStayOffOpenConnections() {
        #expect(self.sent(["a=1; Secure"]) == "a=1")
        #expect(self.sent(["a=1; Secure", "b=2"], isSecure: false) == "b=2")
    }

    @Test(arguments: [
        ("example.com", true), (".example.com", true), ("WWW.example.com", true), ("", true), ("com", false), ("other.com", false),
        ("ample.com", false), ("a.www.example.com", false),
    ])
    func domainsAreHeeded(domain: String, isTaken: Bool) {
        #expect(self.sent(["a=1; Domain=\(domain)"]) == (isTaken ? "a=1" : ""))
    }

    @Test func anAddressHasNoParent() {
        #expect(self.sent(["a=1; Domain=0.0.1"], host: "127.0.0.1") == "")
        #expect(self.sent(["a=1; Domain=127.0.0.1"], host: "127.0.0.1") == "a=1")
    }

    @Test func agesAreHeeded() {
        #expect(self.sent(["a=1; Max-Age=10"], after: 9) == "a=1")
        #expect(self.sent(["a=1; Max-Age=10"], after: 10) == "")
        #expect(self.sent(["a=1; Max-Age=9223372036854775807"], after: 1 << 30) == "a=1")
        #expect(self.sent(["a=1; Max-Age=x"]) == "a=1")
        #expect(self.sent(["a=1; Max-Age=+1"], after: 9) == "a=1")
        #expect(self.sent(["a=1", "a=; Max-Age=0"]) == "")
        #expect(self.sent(["a=1", "a=; Max-Age=-1"]) == "")
        #expect(self.sent(["a=1", "a=; Expires=Thu, 01 Jan 1970 00:00:00 GMT"]) == "")
        #expect(self.sent(["a=1; Expires=Thu, 01 Jan 1970 00:00:00 GMT; Max-Age=10"]) == "a=1")
        #expect(self.sent(["a=1; Expires=nonsense"]) == "a=1")
    }

    @Test(arguments: [
        ("Sun, 06 Nov 1994 08:49:37 GMT", 784_111_777), ("Sunday, 06-Nov-94 08:49:37 GMT", 784_111_777),
        ("Sun Nov  6 08:49:37 1994", 784_111_777), ("Thu, 01 Jan 1970 00:00:00 GMT", 0), ("Tue, 29 Feb 2028 12:00:00 GMT", 1_835_438_400),
        ("Fri, 31 Dec 9999 23:59:59 GMT", 253_402_300_799),
    ])
    func datesAreRead(text: String, seconds: Int) {
        #expect(CookieDate.seconds(text) == seconds)
    }

    @Test(arguments: [
        "", "now", "06 Nov 1994", "08:49:37", "Sun, 06 Nov 1994 24:49:37 GMT", "Sun, 32 Nov 1994 08:49:37 GMT",
        "Sun, 06 Nov 1994 08:49 GMT",
        "Sun, 06 Nov 99999 08:49:37 GMT",
    ])
    func otherTextsAreNotDates(text: String) {
        #expect(CookieDate.seconds(text) == nil)
    }

    @Test func theJarIsBounded() {
        var jar = EngineIOCookieJar(host: "a")
        for number in 0..<100 { jar.receivedSetCookie("c\(number)=x", target: "/", now: 0) }
        jar.receivedSetCookie("large=" + String(repeating: "x", count: 4096), target: "/", now: 0)
        #expect(jar.count == EngineIOCookieJar.maximumCount)
        #expect(jar.cookies(target: "/", isSecure: true, now: 0).map(\.name) == (50..<100).map { "c\($0)" })
    }
}

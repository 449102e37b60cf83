import ApusBytes

/// The cookies that one server set, for example a load balancer's affinity cookie or a login.
///
/// Stores at most ``maximumCount`` cookies of one host, and removes the oldest first. Time is a
/// parameter, in seconds since 1970.
///
/// Source: RFC 6265 section 5.
package struct EngineIOCookieJar: Sendable, Equatable {
    private struct Cookie: Sendable, Equatable {
        var name: String
        var value: String
        var path: String
        var isSecure: Bool
        /// The expiry time; `nil` keeps the cookie as long as the jar exists.
        var expires: Int?
    }

    /// The maximum number of cookies. RFC 6265 section 6.1 requires user agents to store at least
    /// this number for each domain.
    package static let maximumCount = 50
    /// The maximum length of name and value together. A longer cookie is ignored (RFC 6265 section
    /// 6.1).
    package static let maximumBytes = 4096

    private let host: String
    /// The cookies, in order of arrival.
    private var cookies: [Cookie] = []

    /// - Parameter host: The server's name or address.
    package init(host: String) {
        self.host = host.asciiLowercased
    }

    /// The number of cookies, expired ones included.
    package var count: Int { self.cookies.count }

    /// Stores the cookie of a `Set-Cookie` field. Ignores malformed fields and cookies for another
    /// host.
    ///
    /// - Parameters:
    ///   - field: `name=value; Path=/; …`.
    ///   - target: The target of the request; its directory is the default path of the cookie.
    ///   - now: Seconds since 1970.
    package mutating func receivedSetCookie(_ field: String, target: String, now: Int) {
        guard field.utf8.allSatisfy({ $0 >= 0x20 && $0 != 0x7F || $0 == 0x09 }) else { return }
        var parts = field.split(atByte: ";")[...]
        guard let pair = parts.popFirst(), case let (name, value?) = Self.pair(pair) else { return }
        var cookie = Cookie(name: name, value: value, path: Self.directory(of: target), isSecure: false)
        guard !cookie.name.isEmpty, cookie.name.utf8.count + cookie.value.utf8.count <= Self.maximumBytes else { return }
        var maximumAge: Int?
        for part in parts {
            let (name, text) = Self.pair(part)
            let value = text ?? ""
            switch name.asciiLowercased {
            case "path": cookie.path = value.utf8.first == UInt8(ascii: "/") ? value : Self.directory(of: target)
            case "secure": cookie.isSecure = true
            case "domain": guard self.isFor(domain: value) else { return }
            case "expires": cookie.expires = CookieDate.seconds(value) ?? cookie.expires
            case "max-age":
                // RFC 6265 section 5.2.2: digits, with an optional minus sign
                let isNegative = value.utf8.first == UInt8(ascii: "-")
                let age = Int(digits: isNegative ? value.dropFirst() : value[...])
                maximumAge = age.map { isNegative ? -$0 : $0 } ?? maximumAge
            default: break
            }
        }
        // RFC 6265 section 4.1.2.2: "the Max-Age attribute has precedence"
        if let maximumAge { cookie.expires = maximumAge <= 0 ? now : now.addingReportingOverflow(min(maximumAge, 1 << 40)).partialValue }
        self.store(cookie, now: now)
    }

    private mutating func store(_ cookie: Cookie, now: Int) {
        let place = self.cookies.firstIndex { $0.name.hasSameBytes(as: cookie.name) && $0.path.hasSameBytes(as: cookie.path) }
        guard cookie.expires.map({ $0 > now }) ?? true else {
            if let place { self.cookies.remove(at: place) }  // a server deletes a cookie with a date in the past
            return
        }
        if let place { self.cookies[place] = cookie } else { self.cookies.append(cookie) }
        if self.cookies.count > Self.maximumCount { self.cookies.removeFirst() }
    }

    /// Returns the name and value of each cookie for a request, longer paths first (RFC 6265
    /// section 5.4).
    package func cookies(target: String, isSecure: Bool, now: Int) -> [(name: String, value: String)] {
        let path = Self.path(of: target)
        let fitting = self.cookies.enumerated().filter { _, cookie in
            cookie.expires.map { $0 > now } ?? true && (isSecure || !cookie.isSecure) && Self.path(path, isWithin: cookie.path)
        }
        return fitting.sorted { ($1.element.path.utf8.count, $0.offset) < ($0.element.path.utf8.count, $1.offset) }
            .map { ($0.element.name, $0.element.value) }
    }

    // MARK: RFC 6265 section 5.1

    /// Splits a text at the first `=`. The value is `nil` if the text has no `=`.
    private static func pair(_ text: Substring) -> (name: String, value: String?) {
        guard let equals = text.utf8.firstIndex(of: UInt8(ascii: "=")) else { return (String(text.trimmedOfBlanks), nil) }
        return (String(text[..<equals].trimmedOfBlanks), String(text[text.utf8.index(after: equals)...].trimmedOfBlanks))
    }

    private func isFor(domain: String) -> Bool {
        let domain = domain.asciiLowercased.utf8.drop { $0 == UInt8(ascii: ".") }
        let host = self.host.utf8
        if domain.isEmpty || domain.elementsEqual(host) { return true }
        // An IP address has no parent domain.
        let isName = !host.contains(UInt8(ascii: ":")) && host.last.map { !(UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) } ?? false
        let parent = host.suffix(domain.count)
        return isName && domain.contains(UInt8(ascii: ".")) && parent.elementsEqual(domain)
            && host[..<parent.startIndex].last == UInt8(ascii: ".")
    }

    private static func path(of target: String) -> Substring.UTF8View {
        target[...].utf8.prefix { $0 != UInt8(ascii: "?") }
    }

    private static func directory(of target: String) -> String {
        let path = Self.path(of: target)
        guard path.first == UInt8(ascii: "/"), let slash = path.lastIndex(of: UInt8(ascii: "/")), slash != path.startIndex else {
            return "/"
        }
        return String(Substring(path[..<slash]))
    }

    private static func path(_ path: Substring.UTF8View, isWithin parent: String) -> Bool {
        guard path.starts(with: parent.utf8) else { return false }
        return path.count == parent.utf8.count || parent.utf8.last == UInt8(ascii: "/")
            || path.dropFirst(parent.utf8.count).first == UInt8(ascii: "/")
    }
}

/// The date formats of `Expires` (RFC 6265 section 5.1.1).
enum CookieDate {
    private static let months = ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"]

    /// Returns seconds since 1970, or `nil` if the text is not a date.
    static func seconds(_ text: String) -> Int? {
        var time: [Int]?
        var (day, month, year): (Int?, Int?, Int?)
        for token in text.split(whereSeparator: { !($0.isLetter || $0.isNumber || $0 == ":") }) {
            let numbers = token.split(separator: ":", omittingEmptySubsequences: false).map { Int(digits: $0) }
            if time == nil, numbers.count == 3 {
                time = numbers.compactMap { $0 }
            } else if day == nil, token.count <= 2, let number = Int(digits: token) {
                day = number
            } else if month == nil, let index = Self.months.firstIndex(of: token.prefix(3).asciiLowercased) {
                month = index + 1
            } else if year == nil, token.count == 2 || token.count == 4, let number = Int(digits: token) {
                year = token.count == 4 ? number : number + (number < 70 ? 2000 : 1900)
            }
        }
        guard let time, time.count == 3, let day, let month, let year, (1...31).contains(day), (1601...9999).contains(year),
            (0...23).contains(time[0]), (0...59).contains(time[1]), (0...60).contains(time[2])
        else { return nil }
        return Self.days(year, month, day) * 86_400 + time[0] * 3600 + time[1] * 60 + time[2]
    }

    /// Returns the days since 1970-01-01 in the Gregorian calendar. The calculation starts each
    /// year in March, so that the leap day is the last day.
    private static func days(_ year: Int, _ month: Int, _ day: Int) -> Int {
        let year = month <= 2 ? year - 1 : year
        let dayOfYear = (153 * (month > 2 ? month - 3 : month + 9) + 2) / 5 + day - 1
        return year * 365 + year / 4 - year / 100 + year / 400 + dayOfYear - 719_468
    }
}

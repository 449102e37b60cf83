import Crypto

/// Signs requests with AWS Signature Version 4, in the field `Authorization`.
///
/// Source: AWS, "Signature Version 4 for API requests", and Amazon S3 API Reference,
/// "Authenticating Requests (AWS Signature Version 4)". The path is encoded once and not
/// normalized, as S3 requires.
package struct SignatureV4: Sendable {
    package var credentials: S3Credentials
    package var region: String
    package var service: String

    package init(credentials: S3Credentials, region: String, service: String = "s3") {
        self.credentials = credentials
        self.region = region
        self.service = service
    }

    /// Returns the canonical form of the request, whose hash is signed.
    ///
    /// - Parameters:
    ///   - path: The encoded path.
    ///   - query: The names and values, not encoded.
    ///   - headers: All fields that are signed, including `host`.
    ///   - payloadHash: The SHA-256 of the body in hexadecimal.
    package static func canonicalRequest(
        _ method: String, path: String, query: [(name: String, value: String)], headers: [(name: String, value: String)],
        payloadHash: String
    ) -> String {
        let fields = Self.canonical(headers)
        return [
            method, path, Self.canonicalQuery(query), fields.map { "\($0.name):\($0.value)\n" }.joined(),
            fields.map(\.name).joined(separator: ";"), payloadHash,
        ].joined(separator: "\n")
    }

    /// Returns the encoded query, in the order of its encoded names.
    package static func canonicalQuery(_ query: [(name: String, value: String)]) -> String {
        query.map { (PercentEncoding.text($0.name), PercentEncoding.text($0.value)) }
            .sorted { ($0.0, $0.1) < ($1.0, $1.1) }
            .map { "\($0.0)=\($0.1)" }.joined(separator: "&")
    }

    private static func canonical(_ headers: [(name: String, value: String)]) -> [(name: String, value: String)] {
        var values: [String: [String]] = [:]
        for (name, value) in headers {
            let words = value.split(separator: " ", omittingEmptySubsequences: true)
            values[name.lowercased(), default: []].append(words.joined(separator: " "))
        }
        return values.sorted { $0.key < $1.key }.map { ($0.key, $0.value.joined(separator: ",")) }
    }

    /// Returns the text whose HMAC is the signature.
    ///
    /// - Parameter time: The time as `20130524T000000Z`.
    package func stringToSign(_ canonicalRequest: String, at time: String) -> String {
        ["AWS4-HMAC-SHA256", time, self.scope(at: time), Self.hex(SHA256.hash(data: Array(canonicalRequest.utf8)))].joined(separator: "\n")
    }

    private func scope(at time: String) -> String { "\(time.prefix(8))/\(self.region)/\(self.service)/aws4_request" }

    package func signature(of stringToSign: String, at time: String) -> String {
        var key = Array(("AWS4" + self.credentials.secret).utf8)
        for part in [String(time.prefix(8)), self.region, self.service, "aws4_request", stringToSign] {
            key = Array(HMAC<SHA256>.authenticationCode(for: Array(part.utf8), using: SymmetricKey(data: key)))
        }
        return Self.hex(key)
    }

    /// Returns the value of the field `Authorization` for a request whose fields include
    /// `x-amz-date`.
    package func authorization(
        _ method: String, path: String, query: [(name: String, value: String)], headers: [(name: String, value: String)],
        payloadHash: String, at time: String
    ) -> String {
        let request = Self.canonicalRequest(method, path: path, query: query, headers: headers, payloadHash: payloadHash)
        let signature = self.signature(of: self.stringToSign(request, at: time), at: time)
        let names = Self.canonical(headers).map(\.name).joined(separator: ";")
        return "AWS4-HMAC-SHA256 Credential=\(self.credentials.id)/\(self.scope(at: time)), SignedHeaders=\(names), Signature=\(signature)"
    }

    /// The SHA-256 of an empty body.
    package static let emptyHash = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"

    package static func hex(_ bytes: some Sequence<UInt8>) -> String {
        let digits = Array("0123456789abcdef".utf8)
        return String(decoding: bytes.flatMap { [digits[Int($0 >> 4)], digits[Int($0 & 15)]] }, as: UTF8.self)
    }
}

/// Formats times as `20130524T000000Z`.
package enum SignatureTime {
    /// Returns the text of a time.
    ///
    /// - Parameter milliseconds: The time since 1970.
    package static func text(_ milliseconds: Int64) -> String {
        let seconds = max(0, milliseconds / 1_000)
        let (days, rest) = seconds.quotientAndRemainder(dividingBy: 86_400)
        // Howard Hinnant, "chrono-Compatible Low-Level Date Algorithms", civil_from_days.
        let shifted = days + 719_468
        let (era, day) = shifted.quotientAndRemainder(dividingBy: 146_097)
        let year = (day - day / 1_460 + day / 36_524 - day / 146_096) / 365
        let dayOfYear = day - (365 * year + year / 4 - year / 100)
        let month = (5 * dayOfYear + 2) / 153
        let date = [year + era * 400 + (month >= 10 ? 1 : 0), month < 10 ? month + 3 : month - 9, dayOfYear - (153 * month + 2) / 5 + 1]
        func two(_ number: Int64) -> String { number < 10 ? "0\(number)" : "\(number)" }
        return date.map(two).joined() + "T" + [rest / 3_600, rest / 60 % 60, rest % 60].map(two).joined() + "Z"
    }
}

/// The location of the objects: a server, a bucket, and a prefix of the keys.
package struct S3Location: Hashable, Sendable {
    package var isSecure: Bool
    /// The host, with the port if it is not the default one.
    package var host: String
    /// The encoded path before the key, without a trailing `/`.
    package var path: String
    package var region: String
    /// The prefix of all keys: empty, or a text that ends in `/`.
    package var prefix: String

    /// - Parameters:
    ///   - url: `s3://BUCKET` or `s3://BUCKET/PREFIX`.
    ///   - endpoint: The URL of the server; `nil` for the server of AWS in the region.
    ///   - region: The region, which is part of each signature.
    package init(url: String, endpoint: String?, region: String) throws(S3Error) {
        guard url.hasPrefix("s3://") else { throw Self.invalid("the store \(url) must have the form s3://BUCKET or s3://BUCKET/PREFIX") }
        let parts = url.dropFirst(5).split(separator: "/", omittingEmptySubsequences: false).map(String.init)
        let bucket = parts.first ?? ""
        guard (3...63).contains(bucket.utf8.count), bucket.utf8.allSatisfy(Self.isBucketByte) else {
            throw Self.invalid("the name of the bucket \(bucket) must consist of 3 to 63 lower-case letters, digits, dots or hyphens")
        }
        let folders = parts.dropFirst().filter { !$0.isEmpty }
        guard folders.allSatisfy({ $0 != "." && $0 != ".." }), folders.joined(separator: "/").utf8.count <= 512 else {
            throw Self.invalid("the prefix of \(url) must have at most 512 bytes and must not contain the component . or ..")
        }
        guard !region.isEmpty, region.utf8.allSatisfy(Self.isBucketByte) else {
            throw Self.invalid("the region \(region) must consist of lower-case letters, digits, dots or hyphens")
        }
        self.region = region
        self.prefix = folders.map { $0 + "/" }.joined()
        guard let endpoint else {
            // AWS names the bucket in the host, but the certificate does not cover names with dots.
            self.isSecure = true
            let isInHost = !bucket.contains(".")
            self.host = (isInHost ? bucket + "." : "") + "s3.\(region).amazonaws.com"
            self.path = isInHost ? "" : "/" + bucket
            return
        }
        (self.isSecure, self.host, self.path) = try Self.parts(of: endpoint)
        self.path += "/" + bucket
    }

    private static func parts(of endpoint: String) throws(S3Error) -> (isSecure: Bool, host: String, path: String) {
        let problem = Self.invalid(
            "the endpoint \(endpoint) must have the form https://HOST[:PORT][/PATH] or http://HOST[:PORT][/PATH], without ?, # and %")
        let isSecure = endpoint.hasPrefix("https://")
        guard isSecure || endpoint.hasPrefix("http://") else { throw problem }
        let rest = endpoint.dropFirst(isSecure ? 8 : 7).split(separator: "/", omittingEmptySubsequences: false).map(String.init)
        var host = rest.first?.lowercased() ?? ""
        guard Self.isHost(host) else { throw problem }
        // HTTP clients omit the default port from the field `Host`, which is part of the signature.
        let port = isSecure ? ":443" : ":80"
        if host.hasSuffix(port) { host.removeLast(port.count) }
        let folders = rest.dropFirst().filter { !$0.isEmpty }
        guard folders.allSatisfy({ !$0.contains("?") && !$0.contains("#") && !$0.contains("%") }) else { throw problem }
        return (isSecure, host, folders.map { "/" + PercentEncoding.text($0) }.joined())
    }

    /// Returns whether a text in lower case is a host with an optional port. An IPv6 address is in
    /// brackets.
    private static func isHost(_ text: String) -> Bool {
        let end = text.hasPrefix("[") ? text.firstIndex(of: "]").map(text.index(after:)) : text.firstIndex(of: ":") ?? text.endIndex
        guard let end else { return false }
        let (host, port) = (text[..<end], text[end...])
        guard port.isEmpty || (port.first == ":" && UInt16(port.dropFirst()).map { $0 > 0 } ?? false) else { return false }
        guard host.first == "[" else { return !host.isEmpty && host.utf8.allSatisfy { Self.isBucketByte($0) || $0 == UInt8(ascii: "_") } }
        return host.contains(":") && host.dropFirst().dropLast().utf8.allSatisfy { Self.isBucketByte($0) || $0 == UInt8(ascii: ":") }
    }

    private static func isBucketByte(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "."): true
        default: false
        }
    }

    private static func invalid(_ message: String) -> S3Error { S3Error(.invalidConfiguration, message: message) }

    /// Returns the path of an object, encoded.
    package func path(of key: String) -> String {
        self.path + "/" + PercentEncoding.text(self.prefix + key, keepsSlashes: true)
    }
}

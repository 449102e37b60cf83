import ApusBytes
package import HTTPTypes
package import NIOHTTP1

extension HTTPFields {
    /// Converts the fields of a message. Fields whose names are not tokens are left out.
    package init(_ headers: HTTPHeaders) {
        self.init()
        self.reserveCapacity(headers.count)
        for (name, value) in headers {
            if let name = HTTPField.Name(name) { self.append(HTTPField(name: name, value: value)) }
        }
    }
}

extension HTTPHeaders {
    /// Converts the fields of a message.
    package init(_ fields: HTTPFields) { self.init(fields.map { ($0.name.rawName, $0.value) }) }
}

extension HTTPRequest {
    /// Converts the head of a request. The first `Host` field becomes the authority; a second
    /// `Host` field remains a field.
    ///
    /// - Parameters:
    ///   - head: The head, as decoded by NIO.
    ///   - isSecure: Whether the request arrived over TLS.
    /// - Returns: `nil` if the method is not a token.
    ///
    /// Source: RFC 9112 section 3.2.
    package init?(_ head: HTTPRequestHead, isSecure: Bool) {
        guard let method = HTTPRequest.Method(head.method.rawValue) else { return nil }
        var fields = HTTPFields()
        fields.reserveCapacity(head.headers.count)
        var authority: String?
        for (name, value) in head.headers {
            if authority == nil, name.utf8.count == 4, name.equalsIgnoringASCIICase("host") {
                authority = value
            } else if let name = HTTPField.Name(name) {
                fields.append(HTTPField(name: name, value: value))
            }
        }
        let target = HTTPRequestTarget(head.uri)
        // RFC 9112 section 3.2.2: "the origin server MUST ignore the received Host header field (if
        // any) and instead replace it with the host information of the request-target."
        self.init(
            method: method, scheme: isSecure ? "https" : "http", authority: target.authority ?? authority,
            path: target.path, headerFields: fields)
    }
}

/// The target of a request in origin form, and the authority of a target in absolute form.
///
/// Source: RFC 9112 section 3.2.
package struct HTTPRequestTarget {
    /// The path and the query.
    package let path: String
    /// The authority of a target in absolute form; `nil` for a target in origin form.
    package let authority: String?

    package init(_ target: String) {
        guard target.utf8.first != UInt8(ascii: "/"), let slashes = Self.authorityStart(in: target) else {
            (self.path, self.authority) = (target, nil)
            return
        }
        let rest = target.utf8[slashes...]
        let end = rest.firstIndex { $0 == UInt8(ascii: "/") || $0 == UInt8(ascii: "?") } ?? rest.endIndex
        let path = String(target[end...])
        self.path = path.utf8.first == UInt8(ascii: "/") ? path : "/" + path
        self.authority = String(target[slashes..<end])
    }

    /// Returns the position of the authority, after `http://` or another scheme.
    private static func authorityStart(in target: String) -> String.Index? {
        guard let colon = target.utf8.firstIndex(of: UInt8(ascii: ":")), target.utf8[colon...].starts(with: "://".utf8) else { return nil }
        let isScheme = target.utf8[..<colon].allSatisfy { byte in
            UInt8(ascii: "a")...UInt8(ascii: "z") ~= byte | 0x20 || UInt8(ascii: "0")...UInt8(ascii: "9") ~= byte
                || byte == UInt8(ascii: "+") || byte == UInt8(ascii: "-") || byte == UInt8(ascii: ".")
        }
        return isScheme && colon > target.startIndex ? target.utf8.index(colon, offsetBy: 3) : nil
    }
}

extension HTTPRequestHead {
    /// Converts a request with a path to the head in origin form.
    package init(_ request: HTTPRequest) {
        var headers = HTTPHeaders()
        headers.reserveCapacity(request.headerFields.count + 1)
        if let authority = request.authority { headers.add(name: "Host", value: authority) }
        for field in request.headerFields { headers.add(name: field.name.rawName, value: field.value) }
        self.init(version: .http1_1, method: .init(rawValue: request.method.rawValue), uri: request.path ?? "/", headers: headers)
    }
}

extension HTTPResponse {
    /// Converts the head of a response.
    ///
    /// - Returns: `nil` if the status does not have three digits.
    package init?(_ head: HTTPResponseHead) {
        guard head.status.code <= 999 else { return nil }
        self.init(
            status: .init(code: Int(head.status.code), reasonPhrase: head.status.reasonPhrase),
            headerFields: HTTPFields(head.headers))
    }
}

extension HTTPResponseHead {
    /// Converts a response.
    package init(_ response: HTTPResponse) {
        self.init(
            version: .http1_1,
            status: .init(statusCode: response.status.code, reasonPhrase: response.status.reasonPhrase),
            headers: HTTPHeaders(response.headerFields))
    }
}

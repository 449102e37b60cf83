/// A request to an object store.
///
/// Source: Amazon S3 API Reference, "Actions".
package struct S3Request: Hashable, Sendable {
    package enum Method: String, Sendable {
        case get = "GET"
        case head = "HEAD"
        case put = "PUT"
        case post = "POST"
        case delete = "DELETE"
    }

    package struct Field: Hashable, Sendable {
        package var name: String
        package var value: String
    }

    package var method: Method
    package var key: String
    package var query: [Field] = []
    package var headers: [Field] = []
    /// The SHA-256 of the body in hexadecimal.
    package var payloadHash = SignatureV4.emptyHash

    private init(_ method: Method, _ key: String, query: [(String, String)] = [], headers: [(String, String)] = []) {
        self.method = method
        self.key = key
        self.query = query.map { Field(name: $0.0, value: $0.1) }
        self.headers = headers.map { Field(name: $0.0, value: $0.1) }
    }

    /// Returns a HeadObject request.
    package static func head(_ key: String) -> Self { Self(.head, key) }

    /// Returns a GetObject request for a range of bytes.
    package static func get(_ key: String, _ range: ClosedRange<Int64>) -> Self {
        Self(.get, key, headers: [("range", "bytes=\(range.lowerBound)-\(range.upperBound)")])
    }

    /// Returns a PutObject request for a body with the given SHA-256.
    package static func put(_ key: String, hash: String) -> Self { Self(.put, key).with(hash) }

    /// Returns a DeleteObject request.
    package static func delete(_ key: String) -> Self { Self(.delete, key) }

    /// Returns a CreateMultipartUpload request.
    package static func beginUpload(_ key: String) -> Self { Self(.post, key, query: [("uploads", "")]) }

    /// Returns an UploadPart request for a body with the given SHA-256.
    package static func part(_ key: String, _ upload: String, number: Int, hash: String) -> Self {
        Self(.put, key, query: [("partNumber", String(number)), ("uploadId", upload)]).with(hash)
    }

    /// Returns a CompleteMultipartUpload request. ``S3Completion`` returns its body.
    package static func completeUpload(_ key: String, _ upload: String, hash: String) -> Self {
        Self(.post, key, query: [("uploadId", upload)], headers: [("content-type", "application/xml")]).with(hash)
    }

    /// Returns an AbortMultipartUpload request.
    package static func abortUpload(_ key: String, _ upload: String) -> Self { Self(.delete, key, query: [("uploadId", upload)]) }

    private func with(_ hash: String) -> Self {
        var request = self
        request.payloadHash = hash
        return request
    }

    /// The method, the URL and the header fields of a signed request.
    package struct Signed: Hashable, Sendable {
        package var method: Method
        package var url: String
        package var headers: [Field]
    }

    /// Signs the request.
    ///
    /// - Parameter time: Milliseconds since 1970.
    package func signed(for location: S3Location, _ credentials: S3Credentials, at time: Int64) -> Signed {
        let time = SignatureTime.text(time)
        var fields = [
            Field(name: "host", value: location.host), Field(name: "x-amz-content-sha256", value: self.payloadHash),
            Field(name: "x-amz-date", value: time),
        ]
        if let token = credentials.token { fields.append(Field(name: "x-amz-security-token", value: token)) }
        fields += self.headers
        let path = location.path(of: self.key)
        let query = self.query.map { (name: $0.name, value: $0.value) }
        let signature = SignatureV4(credentials: credentials, region: location.region)
        let authorization = signature.authorization(
            self.method.rawValue, path: path, query: query, headers: fields.map { ($0.name, $0.value) }, payloadHash: self.payloadHash,
            at: time)
        let suffix = query.isEmpty ? "" : "?" + SignatureV4.canonicalQuery(query)
        return Signed(
            method: self.method, url: (location.isSecure ? "https://" : "http://") + location.host + path + suffix,
            headers: fields + [Field(name: "authorization", value: authorization)])
    }
}

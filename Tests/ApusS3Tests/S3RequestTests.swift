import ApusS3
import Testing

@Suite struct S3RequestTests {
    private static let credentials = S3Credentials(id: "id", secret: "secret")

    private static func signed(_ request: S3Request, token: String? = nil) throws -> S3Request.Signed {
        let location = try S3Location(url: "s3://bucket/a b/chat", endpoint: "http://127.0.0.1:5000", region: "eu-west-1")
        return request.signed(for: location, S3Credentials(id: "id", secret: "secret", token: token), at: 1_369_353_600_000)
    }

    @Test func urls() throws {
        let base = "http://127.0.0.1:5000/bucket/a%20b/chat/ab/abcd"
        let requests: [(S3Request, S3Request.Method, String)] = [
            (.head("ab/abcd"), .head, base), (.get("ab/abcd", 0...9), .get, base), (.put("ab/abcd", hash: "h"), .put, base),
            (.delete("ab/abcd"), .delete, base), (.beginUpload("ab/abcd"), .post, base + "?uploads="),
            (.part("ab/abcd", "u/1", number: 2, hash: "h"), .put, base + "?partNumber=2&uploadId=u%2F1"),
            (.completeUpload("ab/abcd", "u", hash: "h"), .post, base + "?uploadId=u"),
            (.abortUpload("ab/abcd", "u"), .delete, base + "?uploadId=u"),
        ]
        for (request, method, url) in requests {
            let signed = try Self.signed(request)
            #expect(signed.method == method && signed.url == url)
        }
    }

    @Test func fieldsAreSigned() throws {
        let signed = try Self.signed(.get("k", 5...7), token: "session")
        #expect(
            signed.headers.dropLast().map { "\($0.name): \($0.value)" } == [
                "host: 127.0.0.1:5000", "x-amz-content-sha256: \(SignatureV4.emptyHash)", "x-amz-date: 20130524T000000Z",
                "x-amz-security-token: session", "range: bytes=5-7",
            ])
        #expect(signed.headers.last?.name == "authorization")
        let names = "SignedHeaders=host;range;x-amz-content-sha256;x-amz-date;x-amz-security-token, "
        #expect(signed.headers.last?.value.contains(names) ?? false)
    }

    @Test(
        arguments: [
            ("s3://bucket", nil, "https://bucket.s3.eu-west-1.amazonaws.com/k"),
            ("s3://my.bucket/p", nil, "https://s3.eu-west-1.amazonaws.com/my.bucket/p/k"),
            ("s3://bucket//a//b/", "https://s3.example.com", "https://s3.example.com/bucket/a/b/k"),
            ("s3://bucket", "https://S3.example.com:443/", "https://s3.example.com/bucket/k"),
            ("s3://bucket", "http://[::1]:9000/base", "http://[::1]:9000/base/bucket/k"),
            ("s3://bucket", "http://minio:80", "http://minio/bucket/k"), ("s3://bucket/ä", "http://minio", "http://minio/bucket/%C3%A4/k"),
        ] as [(String, String?, String)]) func locations(_ url: String, _ endpoint: String?, _ expected: String) throws
    {
        let location = try S3Location(url: url, endpoint: endpoint, region: "eu-west-1")
        #expect(S3Request.head("k").signed(for: location, Self.credentials, at: 0).url == expected)
    }

    @Test(
        arguments: [
            ("http://bucket", nil, "r"), ("s3://", nil, "r"), ("s3://b", nil, "r"), ("s3://Bucket", nil, "r"),
            ("s3://bucket/../x", nil, "r"),
            ("s3://bucket", "localhost:9000", "r"), ("s3://bucket", "https://", "r"), ("s3://bucket", "http://a b", "r"),
            ("s3://bucket", "http://user@host", "r"), ("s3://bucket", "http://host/?x", "r"), ("s3://bucket", nil, ""),
            ("s3://bucket", nil, "a/b"), ("s3://bucket", nil, "a\nb"),
        ] as [(String, String?, String)]) func invalidLocations(_ url: String, _ endpoint: String?, _ region: String)
    {
        #expect { try S3Location(url: url, endpoint: endpoint, region: region) } throws: {
            ($0 as? S3Error)?.code == .invalidConfiguration
        }
    }

    // MARK: Credentials

    @Test func credentialsOfTheEnvironment() {
        let names = ["AWS_ACCESS_KEY_ID": "id", "AWS_SECRET_ACCESS_KEY": "secret"]
        #expect(S3Credentials(environment: names) == S3Credentials(id: "id", secret: "secret"))
        #expect(S3Credentials(environment: names.merging(["AWS_SESSION_TOKEN": "t"]) { $1 })?.token == "t")
        #expect(S3Credentials(environment: names.merging(["AWS_SECRET_ACCESS_KEY": ""]) { $1 }) == nil)
        #expect(S3Credentials(environment: [:]) == nil)
    }

    @Test(arguments: [
        "[default]\naws_access_key_id = id\naws_secret_access_key = a=b\n",
        "# comment\n[other]\naws_access_key_id=x\naws_secret_access_key=y\n\n[default]\r\naws_access_key_id=id\r\naws_secret_access_key=a=b",
        "aws_access_key_id=id\naws_secret_access_key=a=b",
    ]) func credentialsOfAFile(_ text: String) {
        #expect(S3Credentials(file: text) == S3Credentials(id: "id", secret: "a=b"))
    }

    @Test(arguments: ["", "secret", "[default]\naws_access_key_id = id", "[other]\naws_access_key_id=id\naws_secret_access_key=s"])
    func filesWithoutCredentials(_ text: String) { #expect(S3Credentials(file: text) == nil) }

    @Test func aDescriptionHasNoSecret() {
        #expect("\(S3Credentials(id: "id", secret: "hidden", token: "hidden"))" == "id")
    }
}

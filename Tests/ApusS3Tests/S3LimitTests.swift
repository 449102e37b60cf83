import ApusS3
import Testing

/// Settings and answers at their limits and beyond.
@Suite struct S3LimitTests {
    // MARK: The location

    @Test(
        arguments: [
            "http://minio", "http://minio:9000", "http://my_host:1", "https://a-b.c:65535", "http://127.0.0.1:80", "http://[::1]",
            "http://[fe80::1]:9000", "http://minio/a/b/", "http://MINIO",
        ])
    func endpointsHaveAHostAndAPort(endpoint: String) throws {
        let location = try S3Location(url: "s3://bucket", endpoint: endpoint, region: "r")
        #expect(!location.isSecure || endpoint.hasPrefix("https"))
        #expect(location.path.hasSuffix("/bucket") && location.host == location.host.lowercased())
    }

    @Test(
        arguments: [
            "", "minio", "ftp://minio", "HTTP://minio", "http:/minio", "http://:9000", "http://minio:", "http://minio:0",
            "http://minio:65536",
            "http://minio:80a", "http://minio:-1", "http://a:1:2", "http://[::1", "http://[]", "http://[minio]", "http://[::1]9",
            "http://a[1]",
            "http://user@minio", "http://minio?x", "http://minio/a?b", "http://minio/#", "http://minio/%2F", "http://höst", "http://a b",
            "http://a\r\nx", "http:///bucket",
        ])
    func otherEndpointsAreRefused(endpoint: String) {
        let error = #expect(throws: S3Error.self) { try S3Location(url: "s3://bucket", endpoint: endpoint, region: "r") }
        #expect(error?.code == .invalidConfiguration && error?.message.hasPrefix("the endpoint \(endpoint) must have the form") == true)
    }

    @Test(
        arguments: [
            (2, false), (3, true), (63, true), (64, false),
        ])
    func bucketsHaveALength(count: Int, isValid: Bool) {
        let url = "s3://" + String(repeating: "b", count: count)
        #expect(((try? S3Location(url: url, endpoint: nil, region: "r")) != nil) == isValid)
    }

    @Test(arguments: [(512, true), (513, false)])
    func prefixesHaveALength(count: Int, isValid: Bool) {
        let url = "s3://bucket/" + String(repeating: "p", count: count)
        #expect(((try? S3Location(url: url, endpoint: nil, region: "r")) != nil) == isValid)
    }

    @Test(arguments: ["s3://bucket", "s3://bucket/", "s3://bucket///"])
    func withoutFoldersThePrefixIsEmpty(url: String) throws {
        #expect(try S3Location(url: url, endpoint: nil, region: "r").prefix.isEmpty)
    }

    @Test(arguments: [
        "s3://bucket/.", "s3://bucket/a/..", "s3://bucket/./a", "S3://bucket", "s3:bucket", "s3://buck_et", "s3://bücket", "s3:// /a",
    ])
    func otherStoresAreRefused(url: String) {
        let error = #expect(throws: S3Error.self) { try S3Location(url: url, endpoint: nil, region: "r") }
        #expect(error?.code == .invalidConfiguration)
    }

    /// Each byte outside of the unreserved characters of RFC 3986 is encoded, `/` only in values.
    @Test func keysAndValuesAreEncoded() throws {
        let location = try S3Location(url: "s3://bucket", endpoint: "http://minio", region: "r")
        #expect(location.path(of: "a/b c+d&e=f?g#h%i") == "/bucket/a/b%20c%2Bd%26e%3Df%3Fg%23h%25i")
        #expect(location.path(of: "AZaz09-._~") == "/bucket/AZaz09-._~")
        #expect(location.path(of: "雨\u{0}") == "/bucket/%E9%9B%A8%00")
        #expect(SignatureV4.canonicalQuery([("a/b", "c/d")]) == "a%2Fb=c%2Fd")
    }

    // MARK: Credentials

    @Test(
        arguments: [
            ("aws_session_token = t", "t"), ("aws_session_token =", nil), ("AWS_SESSION_TOKEN=T", "T"), ("", nil),
            ("; aws_session_token = t", nil),
        ] as [(String, String?)])
    func anEmptyTokenIsNil(line: String, token: String?) {
        let file = "[default]\naws_access_key_id = id\naws_secret_access_key = s\n\(line)\n[other]\naws_session_token = no\n"
        #expect(S3Credentials(file: file) == S3Credentials(id: "id", secret: "s", token: token))
        let names = ["AWS_ACCESS_KEY_ID": "id", "AWS_SECRET_ACCESS_KEY": "s", "AWS_SESSION_TOKEN": token ?? ""]
        #expect(S3Credentials(environment: names) == S3Credentials(id: "id", secret: "s", token: token))
    }

    @Test(
        arguments: [
            "[default]\naws_access_key_id =\naws_secret_access_key = s", "[default]\naws_access_key_id = id\naws_secret_access_key = ",
            "[default]\nid", "[ default\naws_access_key_id = id\naws_secret_access_key = s",
        ])
    func filesWithoutValuesHaveNoCredentials(text: String) { #expect(S3Credentials(file: text) == nil) }

    // MARK: Times

    @Test(
        arguments: [
            (0, "19700101T000000Z"), (999, "19700101T000000Z"), (-1, "19700101T000000Z"), (951_782_399_000, "20000228T235959Z"),
            (951_782_400_000, "20000229T000000Z"), (951_868_800_000, "20000301T000000Z"), (1_709_164_800_000, "20240229T000000Z"),
            (1_735_689_599_999, "20241231T235959Z"), (1_735_689_600_000, "20250101T000000Z"), (4_107_542_399_000, "21000228T235959Z"),
            (4_107_542_400_000, "21000301T000000Z"), (253_402_300_799_000, "99991231T235959Z"),
        ] as [(Int64, String)])
    func timesHaveTheirDate(milliseconds: Int64, text: String) { #expect(SignatureTime.text(milliseconds) == text) }

    /// Each day follows the one before it, over two cycles of leap years.
    @Test func everyDayHasADate() {
        let lengths = [31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31]
        var day: Int64 = 0
        for year in 1970..<2110 {
            let isLeap = (year % 4 == 0 && year % 100 != 0) || year % 400 == 0
            for (month, length) in lengths.enumerated() {
                for date in 1...(length + (isLeap && month == 1 ? 1 : 0)) {
                    let expected = (year * 100 + month + 1) * 100 + date
                    #expect(SignatureTime.text(day * 86_400_000).prefix(8) == "\(expected)")
                    day += 1
                }
            }
        }
    }

    // MARK: Answers

    @Test(arguments: [(1, true), (1_024, true), (1_025, false)])
    func uploadIDsHaveALength(count: Int, isValid: Bool) {
        let id = String(repeating: "u", count: count)
        let body = "<InitiateMultipartUploadResult><UploadId>\(id)</UploadId></InitiateMultipartUploadResult>"
        #expect((try? S3Completion.uploadID(in: Array(body.utf8))) == (isValid ? id : nil))
    }

    @Test(
        arguments: [
            ("<UploadId>a&lt;&gt;&quot;&apos;&#39;&#34;&#x22;b</UploadId>", "a<>\"''\"\"b"), ("<UploadId>&amp;lt;</UploadId>", "&lt;"),
            ("<UploadId>a<!-- c -->b</UploadId>", "ab"), ("<s3:UploadId>a</s3:UploadId>", "a"), ("<UploadId x='1'>a</UploadId >", "a"),
            ("<Key>k</Key><UploadId>a</UploadId><UploadId>b</UploadId>", "a"),
            ("<Part><UploadId>no</UploadId></Part><UploadId>a</UploadId>", "a"),
            ("<UploadId/><UploadId>a</UploadId>", nil), ("<uploadid>a</uploadid>", nil), ("<Part><UploadId>a</UploadId></Part>", nil),
            ("<UploadId><b>a</b></UploadId>", nil), ("<UploadId><![CDATA[a]]></UploadId>", nil), ("<UploadId>a</uploadId>", nil),
        ] as [(String, String?)])
    func theUploadIsTheTextOfItsElement(content: String, id: String?) {
        let body = "<InitiateMultipartUploadResult>\(content)</InitiateMultipartUploadResult>"
        #expect((try? S3Completion.uploadID(in: Array(body.utf8))) == id)
    }

    @Test(arguments: ["", "text", "<CompleteMultipartUploadResult>", "<a></a><CompleteMultipartUploadResult/>"])
    func aCompletionThatIsNotXMLIsMalformed(body: String) {
        let error = #expect(throws: S3Error.self) { try S3Completion.check(Array(body.utf8)) }
        #expect(error?.code == .malformedAnswer)
    }

    @Test(arguments: [
        "<CompleteMultipartUploadResult/>", "<x:CompleteMultipartUploadResult xmlns:x='y'></x:CompleteMultipartUploadResult>",
    ])
    func anEndIsKnownByItsRoot(body: String) throws { try S3Completion.check(Array(body.utf8)) }

    /// The store's message is shown, but only a part of a long one.
    @Test func messagesAreBounded() {
        let body = "<Error><Code>AccessDenied</Code><Message>\(String(repeating: "m", count: 5_000))</Message></Error>"
        let error = S3Error(status: 403, body: Array(body.utf8))
        #expect(error.message.utf8.count < 300 && error.name == "AccessDenied" && "\(error)" == error.message)
        for body in ["", "<html>", "<Error/>", "<Error><Code/></Error>", "\u{0}"] {
            let error = S3Error(status: 403, body: Array(body.utf8))
            #expect(error.message == "the object store answered HTTP 403" && error.name.isEmpty && error.code == .refused)
        }
    }

    @Test(
        arguments: [
            (400, S3Error.Code.refused), (401, .refused), (404, .missing), (408, .unreachable), (409, .refused), (429, .unreachable),
            (499, .refused),
            (500, .unreachable), (503, .unreachable), (599, .unreachable), (600, .refused), (304, .refused),
        ])
    func theStatusDecides(status: Int, code: S3Error.Code) { #expect(S3Error(status: status, body: []).code == code) }

    // MARK: Parts

    @Test(
        arguments: [
            (5 << 20, 5 << 20, [5 << 20]), (5 << 20 + 1, 5 << 20, [5 << 20, 1]), (10 << 20, 5 << 20, [5 << 20, 5 << 20]),
            (12 << 20, 6 << 20, [6 << 20, 6 << 20]), (-1, 8 << 20, [1]),
        ] as [(Int64, Int64, [Int64])])
    func partsHaveTheirSize(size: Int64, usual: Int64, sizes: [Int64]) {
        let plan = S3PartPlan(size: size, usual: usual)
        #expect(plan.parts.map(\.size) == sizes && plan.count == sizes.count)
    }

    @Test(arguments: [S3PartPlan.usualBytes * 10_000, S3PartPlan.usualBytes * 10_000 + 1, .max] as [Int64])
    func thereAreAtMostTenThousandParts(size: Int64) {
        let plan = S3PartPlan(size: size)
        #expect(plan.count <= 10_000)
        #expect((plan.partBytes == S3PartPlan.usualBytes) == (size <= S3PartPlan.usualBytes * 10_000))
        #expect(Array(plan.parts).last.map { $0.offset + $0.size } == size)
    }
}

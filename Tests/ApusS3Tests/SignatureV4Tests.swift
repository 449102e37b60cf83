import ApusS3
import Testing

/// The examples that AWS publishes, line by line.
@Suite struct SignatureV4Tests {
    /// The test `get-vanilla` of the test suite of Signature Version 4.
    @Test func vanilla() {
        let signature = SignatureV4(
            credentials: S3Credentials(id: "AKIDEXAMPLE", secret: "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY"), region: "us-east-1",
            service: "service")
        let time = "20150830T123600Z"
        let headers = [(name: "Host", value: "example.amazonaws.com"), (name: "X-Amz-Date", value: time)]
        let canonical = SignatureV4.canonicalRequest("GET", path: "/", query: [], headers: headers, payloadHash: SignatureV4.emptyHash)
        #expect(
            canonical.split(separator: "\n", omittingEmptySubsequences: false) == [
                "GET", "/", "", "host:example.amazonaws.com", "x-amz-date:20150830T123600Z", "", "host;x-amz-date",
                "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
            ])
        let text = signature.stringToSign(canonical, at: time)
        #expect(
            text.split(separator: "\n") == [
                "AWS4-HMAC-SHA256", "20150830T123600Z", "20150830/us-east-1/service/aws4_request",
                "bb579772317eb040ac9ed261061d46c1f17a8133879d6129b6e1c25292927e63",
            ])
        #expect(signature.signature(of: text, at: time) == "5fa00fa31553b73ebf1942676e86291e8372ff2a2260956d9b8aae1d763fbf31")
        let authorization = signature.authorization(
            "GET", path: "/", query: [], headers: headers, payloadHash: SignatureV4.emptyHash, at: time)
        #expect(
            authorization == "AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE/20150830/us-east-1/service/aws4_request, "
                + "SignedHeaders=host;x-amz-date, Signature=5fa00fa31553b73ebf1942676e86291e8372ff2a2260956d9b8aae1d763fbf31")
    }

    // MARK: Amazon S3 API Reference, "Signature Calculations for the Authorization Header"

    private static let time = "20130524T000000Z"
    private static let s3 = SignatureV4(
        credentials: S3Credentials(id: "AKIAIOSFODNN7EXAMPLE", secret: "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY"), region: "us-east-1")

    private static func headers(_ payload: String, _ others: (name: String, value: String)...) -> [(name: String, value: String)] {
        [
            ("Host", "examplebucket.s3.amazonaws.com"), ("x-amz-content-sha256", payload), ("x-amz-date", Self.time),
        ] + others
    }

    @Test func getObject() {
        let headers = Self.headers(SignatureV4.emptyHash, ("Range", "bytes=0-9"))
        let canonical = SignatureV4.canonicalRequest(
            "GET", path: "/test.txt", query: [], headers: headers, payloadHash: SignatureV4.emptyHash)
        #expect(
            canonical.split(separator: "\n", omittingEmptySubsequences: false) == [
                "GET", "/test.txt", "", "host:examplebucket.s3.amazonaws.com", "range:bytes=0-9",
                "x-amz-content-sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855", "x-amz-date:20130524T000000Z",
                "", "host;range;x-amz-content-sha256;x-amz-date", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
            ])
        let text = Self.s3.stringToSign(canonical, at: Self.time)
        #expect(
            text.split(separator: "\n") == [
                "AWS4-HMAC-SHA256", "20130524T000000Z", "20130524/us-east-1/s3/aws4_request",
                "7344ae5b7ee6c3e7e6b0fe0640412a37625d1fbfff95c48bbb2dc43964946972",
            ])
        #expect(
            Self.s3.signature(of: text, at: Self.time) == "f0e8bdb87c964420e857bd35b5d6ed310bd44f0170aba48dd91039c6036bdb41")
    }

    @Test func putObject() {
        let payload = "44ce7dd67c959e0d3524ffac1771dfbba87d2b6b4b4e99e42034a8b803f8b072"
        let headers = Self.headers(
            payload, ("Date", "Fri, 24 May 2013 00:00:00 GMT"), ("x-amz-storage-class", "REDUCED_REDUNDANCY"))
        let authorization = Self.s3.authorization(
            "PUT", path: "/test%24file.text", query: [], headers: headers, payloadHash: payload, at: Self.time)
        #expect(
            authorization == "AWS4-HMAC-SHA256 Credential=AKIAIOSFODNN7EXAMPLE/20130524/us-east-1/s3/aws4_request, "
                + "SignedHeaders=date;host;x-amz-content-sha256;x-amz-date;x-amz-storage-class, "
                + "Signature=98ad721746da40c64f1a55b78f14c238d841ea1380cd77a1b5971af0ece108bd")
    }

    @Test(arguments: [
        ([("lifecycle", "")], "fea454ca298b7da1c68078a5d1bdbfbbe0d65c699e0f91ac7a200a0136783543"),
        ([("prefix", "J"), ("max-keys", "2")], "34b48302e7b5fa45bde8084f4b7868a86f0a534bc59db6670ed5711ef69dc6f7"),
    ]) func query(_ query: [(String, String)], _ expected: String) {
        let authorization = Self.s3.authorization(
            "GET", path: "/", query: query.map { (name: $0.0, value: $0.1) }, headers: Self.headers(SignatureV4.emptyHash),
            payloadHash: SignatureV4.emptyHash, at: Self.time)
        #expect(authorization.hasSuffix("Signature=" + expected))
    }

    @Test func valuesOfFieldsAreTrimmedAndJoined() {
        let canonical = SignatureV4.canonicalRequest(
            "GET", path: "/", query: [], headers: [("My-Header1", " a   b  c "), ("b", "2"), ("my-header1", "d")], payloadHash: "hash")
        #expect(canonical == "GET\n/\n\nb:2\nmy-header1:a b c,d\n\nb;my-header1\nhash")
    }

    @Test func theQueryIsEncodedAndSorted() {
        #expect(
            SignatureV4.canonicalQuery([("b", "2"), ("a", "ä /+"), ("a", "-._~"), ("ä", "")]) == "%C3%A4=&a=%C3%A4%20%2F%2B&a=-._~&b=2")
    }

    @Test(
        arguments: [
            (0, "19700101T000000Z"), (1_369_353_600_000, "20130524T000000Z"), (1_440_938_160_999, "20150830T123600Z"),
            (951_782_400_000, "20000229T000000Z"), (4_107_542_399_000, "21000228T235959Z"), (-5, "19700101T000000Z"),
        ] as [(Int64, String)]) func times(_ milliseconds: Int64, _ text: String)
    { #expect(SignatureTime.text(milliseconds) == text) }
}

import ApusS3
import Testing

@Suite struct S3AnswerTests {
    @Test(
        arguments: [
            (1, 1, [1]), (8 << 20, 1, [8 << 20]), (8 << 20 + 1, 2, [8 << 20, 1]), (20 << 20, 3, [8 << 20, 8 << 20, 4 << 20]),
            (0, 1, [1]),
        ] as [(Int64, Int, [Int64])]) func plans(_ size: Int64, _ count: Int, _ sizes: [Int64])
    {
        let plan = S3PartPlan(size: size)
        #expect(plan.count == count)
        #expect(plan.parts.map(\.size) == sizes)
        #expect(plan.parts.map(\.number) == Array(1...count))
    }

    @Test(arguments: [80 << 30, 80 << 30 + 1, 1 << 40, 5 << 40] as [Int64]) func aLargeObjectHasLargerParts(_ size: Int64) {
        let plan = S3PartPlan(size: size)
        #expect(plan.count <= 10_000)
        var end: Int64 = 0
        for part in plan.parts {
            #expect(part.offset == end)
            #expect(part.size >= S3PartPlan.minimumBytes || part.number == plan.count)
            end += part.size
        }
        #expect(end == size)
    }

    @Test func aPartIsNotSmallerThanTheMinimum() { #expect(S3PartPlan(size: 100 << 20, usual: 1).partBytes == 5 << 20) }

    // MARK: XML

    @Test func anUploadBegins() throws {
        let body = """
            <?xml version="1.0" encoding="UTF-8"?>
            <!-- a comment > -->
            <InitiateMultipartUploadResult xmlns="http://s3.amazonaws.com/doc/2006-03-01/">
              <Bucket>bucket</Bucket><Key/><UploadId>a&amp;b</UploadId>
            </InitiateMultipartUploadResult>
            """
        #expect(try S3Completion.uploadID(in: Array(body.utf8)) == "a&b")
    }

    @Test(arguments: [
        "", "<a>", "<a></b>", "<a></a><b></b>", "<!DOCTYPE a><a></a>", "text", "<a", "< a></a>", "<InitiateMultipartUploadResult/>",
        "<InitiateMultipartUploadResult><UploadId></UploadId></InitiateMultipartUploadResult>", "<?xml", "<!-- ",
        String(repeating: "<a>", count: 100),
    ]) func malformedAnswers(_ body: String) {
        #expect { try S3Completion.uploadID(in: Array(body.utf8)) } throws: { ($0 as? S3Error)?.code == .malformedAnswer }
    }

    @Test func theEndNamesTheParts() {
        #expect(
            String(decoding: S3Completion.body(["\"a\"", "<b>"]), as: UTF8.self)
                == "<CompleteMultipartUpload xmlns=\"http://s3.amazonaws.com/doc/2006-03-01/\">"
                + "<Part><PartNumber>1</PartNumber><ETag>&quot;a&quot;</ETag></Part>"
                + "<Part><PartNumber>2</PartNumber><ETag>&lt;b&gt;</ETag></Part></CompleteMultipartUpload>")
    }

    /// The status of the answer is sent before the store has assembled the parts.
    @Test func anErrorCanHaveTheStatus200() throws {
        try S3Completion.check(Array("<CompleteMultipartUploadResult><ETag>x</ETag></CompleteMultipartUploadResult>".utf8))
        let failed = "<Error><Code>InternalError</Code><Message>Try again</Message></Error>"
        #expect { try S3Completion.check(Array(failed.utf8)) } throws: { error in
            (error as? S3Error)?.code == .unreachable && (error as? S3Error)?.name == "InternalError"
        }
    }

    // MARK: Errors

    @Test(arguments: [
        (404, "NoSuchKey", S3Error.Code.missing), (403, "SignatureDoesNotMatch", .refused), (503, "SlowDown", .unreachable),
        (500, "", .unreachable), (429, "", .unreachable), (400, "RequestTimeout", .unreachable), (400, "EntityTooSmall", .refused),
        (301, "PermanentRedirect", .refused),
    ]) func statuses(_ status: Int, _ name: String, _ code: S3Error.Code) {
        let body = name.isEmpty ? "" : "<Error><Code>\(name)</Code><Message>Why.</Message></Error>"
        let error = S3Error(status: status, body: Array(body.utf8))
        #expect(error.code == code && error.name == name)
        #expect(error.message == "the object store answered HTTP \(status)" + (name.isEmpty ? "" : ": \(name), Why."))
    }

    @Test func attemptsAreLimited() {
        var retry = S3Retry()
        let lost = S3Error(.unreachable, message: "lost")
        #expect(retry.failed(lost) == .milliseconds(200))
        #expect(retry.failed(lost) == .milliseconds(400))
        #expect(retry.failed(lost) == .milliseconds(800))
        #expect(retry.failed(lost) == nil)
        var other = S3Retry()
        #expect(other.failed(S3Error(.refused, message: "no")) == nil)
        #expect(other.failed(S3Error(.missing, message: "no")) == nil)
    }
}

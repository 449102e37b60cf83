import ApusChatProtocol
import ApusS3
import NIOConcurrencyHelpers
import Testing

@testable import ApusChatHTTP

/// The behaviour of a store in S3 that `BlobStoreTests` does not test.
@Suite struct S3BlobStoreTests {
    /// 16 MiB and 3 bytes: three parts of at least 5 MiB and a smaller one.
    private static let long = [UInt8](unsafeUninitializedCapacity: 16 << 20 + 3) { buffer, count in
        for index in 0..<(16 << 20 + 3) { buffer[index] = UInt8(truncatingIfNeeded: index % 251) }
        count = 16 << 20 + 3
    }

    private func code(_ body: () async throws -> Void) async -> ChatError.Code? {
        do {
            try await body()
            return nil
        } catch {
            return (error as? ChatError)?.code
        }
    }

    @Test func aKeyHasThePrefix() async throws {
        let test = try TestStore(.s3)
        let blob = try await test.put([1])
        #expect(test.s3.objects == ["/bucket/chat/\(blob.rawValue.prefix(2))/\(blob)": [1]])
        #expect(test.s3.requests == ["HEAD", "PUT"])
    }

    @Test func aLongFileIsCopiedInParts() async throws {
        let test = try TestStore(.s3)
        let blob = try await test.put(Self.long)
        #expect(test.s3.objects.values.first == Self.long)
        #expect(test.s3.uploads == 0)
        let parts = [String](repeating: "PUT partNumber uploadId", count: 4)
        #expect(test.s3.requests == ["HEAD", "POST uploads"] + parts + ["POST uploadId"])
        #expect(try await test.bytes(of: blob, 6_000_000...6_000_009) == Array(Self.long[6_000_000...6_000_009]))
        #expect(try await test.store.unsettled() == [])
    }

    @Test func anObjectThatExistsIsNotCopiedAgain() async throws {
        let test = try TestStore(.s3)
        for _ in 0..<2 { _ = try await test.put([1, 2]) }
        #expect(test.s3.requests == ["HEAD", "PUT", "HEAD"])
    }

    @Test(arguments: ["HEAD", "POST uploads", "PUT partNumber uploadId", "POST uploadId"])
    func eachRequestIsRepeated(_ request: String) async throws {
        let test = try TestStore(.s3)
        test.s3.fail { found, earlier in found == request && earlier < 3 ? (earlier == 0 ? .unreachable : .status(503, "SlowDown")) : nil }
        let blob = try await test.put(Self.long)
        #expect(test.s3.objects.values.first == Self.long)
        #expect(test.pauses.withLockedValue { $0 } == [.milliseconds(200), .milliseconds(400), .milliseconds(800)])
        #expect(try await test.bytes(of: blob, 0...0) == [0])
    }

    @Test func aLostAnswerToTheEndIsAnEnd() async throws {
        let test = try TestStore(.s3)
        test.s3.fail { request, earlier in request == "POST uploadId" && earlier == 0 ? .lostAnswer : nil }
        _ = try await test.put(Self.long)
        #expect(test.s3.objects.values.first == Self.long)
    }

    @Test func anEndThatFailsWithTheStatus200IsRepeated() async throws {
        let test = try TestStore(.s3)
        test.s3.fail { request, earlier in request == "POST uploadId" && earlier == 0 ? .status(200, "InternalError") : nil }
        _ = try await test.put(Self.long)
        #expect(test.s3.objects.values.first == Self.long)
    }

    @Test(arguments: [403, 500]) func aFailureAbortsTheParts(_ status: Int) async throws {
        let test = try TestStore(.s3)
        test.s3.fail { request, earlier in request == "PUT partNumber uploadId" && earlier > 0 ? .status(status, "") : nil }
        let code = await self.code { _ = try await test.put(Self.long) }
        #expect(code == .unavailable)
        #expect(test.s3.uploads == 0 && test.s3.objects.isEmpty)
        #expect(test.s3.requests.filter { $0.hasPrefix("PUT") }.count == (status == 403 ? 2 : 5))
        // The next attempt starts from the first byte.
        test.s3.fail { _, _ in nil }
        _ = try await test.put(Self.long)
        #expect(test.s3.objects.values.first == Self.long)
    }

    /// Neither the parts nor their removal reach the store, as after `kill -9`.
    @Test func partsThatCannotBeAbortedAreRecorded() async throws {
        let test = try TestStore(.s3)
        test.s3.fail { request, _ in request.hasPrefix("PUT") || request.hasPrefix("DELETE") ? .unreachable : nil }
        let (path, blob) = try test.file(Self.long)
        let code = await self.code { try await test.store.store(path, size: Int64(Self.long.count), as: blob) }
        #expect(code == .unavailable)
        #expect(test.s3.uploads == 1)
        #expect(await self.code { try await test.store.settle(blob) } == .unavailable)
        // The next run of the program reads the record.
        let next = try test.again()
        #expect(try await next.unsettled() == [blob])
        test.s3.fail { _, _ in nil }
        try await next.remove(blob)
        try await next.settle(blob)
        #expect(test.s3.uploads == 0)
        #expect(try await next.unsettled() == [])
    }

    @Test func theNextCopyAbortsThePartsOfTheLast() async throws {
        let test = try TestStore(.s3)
        test.s3.fail { request, _ in request.hasPrefix("PUT") || request.hasPrefix("DELETE") ? .unreachable : nil }
        let (path, blob) = try test.file(Self.long)
        #expect(await self.code { try await test.store.store(path, size: Int64(Self.long.count), as: blob) } == .unavailable)
        test.s3.fail { _, _ in nil }
        let next = try test.again()
        try await next.store(path, size: Int64(Self.long.count), as: blob)
        #expect(test.s3.uploads == 0 && test.s3.objects.values.first == Self.long)
    }

    @Test func aRemovalIsRecordedUntilItIsSettled() async throws {
        let test = try TestStore(.s3)
        let blob = try await test.put([1])
        test.s3.fail { request, _ in request == "DELETE" ? .unreachable : nil }
        try await test.store.willRemove(blob)
        #expect(await self.code { try await test.store.remove(blob) } == .unavailable)
        #expect(try await test.again().unsettled() == [blob])
    }

    // MARK: Reading

    @Test func anInterruptedDownloadContinues() async throws {
        let test = try TestStore(.s3)
        let blob = try await test.put([1, 2, 3, 4, 5, 6, 7, 8, 9])
        test.s3.fail { request, _ in request == "GET" ? .cut(after: 3) : nil }
        #expect(try await test.bytes(of: blob, 1...8) == [2, 3, 4, 5, 6, 7, 8, 9])
        #expect(test.s3.requests.filter { $0 == "GET" }.count == 3)
    }

    @Test func aDownloadThatMakesNoProgressEnds() async throws {
        let test = try TestStore(.s3)
        let blob = try await test.put([1, 2, 3, 4, 5])
        test.s3.fail { request, earlier in request != "GET" ? nil : .cut(after: earlier == 0 ? 2 : 0) }
        await #expect(throws: S3Error.self) { _ = try await test.bytes(of: blob, 0...4) }
    }

    @Test func anUnavailableStoreRefusesReads() async throws {
        let test = try TestStore(.s3)
        let blob = try await test.put([1])
        test.s3.fail { _, _ in .unreachable }
        #expect(await self.code { _ = try await test.bytes(of: blob, 0...0) } == .unavailable)
        test.s3.fail { _, _ in .status(404, "NoSuchBucket") }
        #expect(await self.code { _ = try await test.bytes(of: blob, 0...0) } == .unavailable)
    }
}

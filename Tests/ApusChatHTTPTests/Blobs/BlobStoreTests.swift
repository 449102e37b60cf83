import ApusChatProtocol
import NIOCore
import Testing

@testable import ApusChatHTTP

/// The behaviour of each implementation of ``BlobStore``.
@Suite struct BlobStoreTests {
    /// More than two pieces of a folder store, with a period that is not a power of two.
    private static let long = (0..<200_003).map { UInt8(truncatingIfNeeded: $0 % 251) }

    @Test(arguments: StoreKind.allCases) func bytesComeBack(_ kind: StoreKind) async throws {
        let test = try TestStore(kind)
        let blob = try await test.put(Self.long)
        #expect(try await test.bytes(of: blob, 0...Int64(Self.long.count) - 1) == Self.long)
        let one = try await test.put([7])
        #expect(try await test.bytes(of: one, 0...0) == [7])
    }

    @Test(arguments: StoreKind.allCases, [(0, 0), (0, 9), (65_535, 65_536), (100_000, 200_002), (200_002, 200_002)])
    func aRangeIsRead(_ kind: StoreKind, _ range: (first: Int, last: Int)) async throws {
        let test = try TestStore(kind)
        let blob = try await test.put(Self.long)
        let found = try await test.bytes(of: blob, Int64(range.first)...Int64(range.last))
        #expect(found == Array(Self.long[range.first...range.last]))
    }

    @Test(arguments: StoreKind.allCases) func aRangeBeyondTheEndEndsWithTheBlob(_ kind: StoreKind) async throws {
        let test = try TestStore(kind)
        let blob = try await test.put([1, 2, 3])
        #expect(try await test.bytes(of: blob, 1...99) == [2, 3])
    }

    @Test(arguments: StoreKind.allCases) func theSequenceCanBeReadTwice(_ kind: StoreKind) async throws {
        let test = try TestStore(kind)
        let blob = try await test.put([1, 2, 3])
        for _ in 0..<2 { #expect(try await test.bytes(of: blob, 0...2) == [1, 2, 3]) }
    }

    @Test(arguments: StoreKind.allCases) func aMissingBlobIsAnErrorBeforeTheFirstByte(_ kind: StoreKind) async throws {
        let test = try TestStore(kind)
        let missing = try #require(BlobID(String(repeating: "ab", count: 32)))
        await #expect(throws: (any Error).self) { _ = try await test.store.bytes(of: missing, 0...0) }
    }

    @Test(arguments: StoreKind.allCases) func aBlobIsStoredOnceAndOutlivesItsFile(_ kind: StoreKind) async throws {
        let test = try TestStore(kind)
        let first = try await test.put([1, 2, 3])
        let second = try await test.put([1, 2, 3])
        #expect(first == second)
        DurableFile.remove(test.folder + "/upload")
        #expect(try await test.bytes(of: first, 0...2) == [1, 2, 3])
    }

    @Test(arguments: StoreKind.allCases) func aRemovedBlobIsGoneAndCanBeStoredAgain(_ kind: StoreKind) async throws {
        let test = try TestStore(kind)
        let blob = try await test.put([1, 2, 3])
        for _ in 0..<2 {
            try await test.store.willRemove(blob)
            try await test.store.remove(blob)
            try await test.store.settle(blob)
            await #expect(throws: (any Error).self) { _ = try await test.store.bytes(of: blob, 0...0) }
        }
        #expect(try await test.store.unsettled() == [])
        #expect(try await test.put([1, 2, 3]) == blob)
        #expect(try await test.bytes(of: blob, 0...2) == [1, 2, 3])
    }

    @Test(arguments: StoreKind.allCases) func anInterruptedChangeIsKnownAfterARestart(_ kind: StoreKind) async throws {
        let test = try TestStore(kind)
        let (path, blob) = try test.file([1, 2, 3])
        try await test.store.store(path, size: 3, as: blob)
        #expect(try await test.again().unsettled() == [blob])
        try await test.store.settle(blob)
        #expect(try await test.again().unsettled() == [])
        try await test.store.willRemove(blob)
        #expect(try await test.again().unsettled() == [blob])
        #expect(try await test.bytes(of: blob, 0...2) == [1, 2, 3])
    }

    @Test(arguments: StoreKind.allCases) func aMissingFileIsAnErrorOfTheExport(_ kind: StoreKind) async throws {
        let test = try TestStore(kind)
        let (path, blob) = try test.file([1, 2, 3])
        DurableFile.remove(path)
        await #expect(throws: (any Error).self) { try await test.store.store(path, size: 3, as: blob) }
        await #expect(throws: (any Error).self) { _ = try await test.store.bytes(of: blob, 0...0) }
    }
}

@Suite struct BlobBytesTests {
    @Test(arguments: [(0, 0), (1, 1), (4, 4), (5, 5), (6, 5)]) func atMostACountIsCollected(_ count: Int, _ expected: Int) async throws {
        let pieces = BlobBytes {
            var left = [ByteBuffer(bytes: [1, 2]), ByteBuffer(bytes: [3, 4]), ByteBuffer(bytes: [5])][...]
            return { left.popFirst() }
        }
        #expect(try await pieces.collected(upTo: count) == ByteBuffer(bytes: [1, 2, 3, 4, 5].prefix(expected)))
    }
}

@Suite struct BlobClaimsTests {
    private let a: BlobID
    private let b: BlobID

    init() throws {
        self.a = try #require(BlobID(String(repeating: "a", count: 64)))
        self.b = try #require(BlobID(String(repeating: "b", count: 64)))
    }

    @Test func onlyFreeBlobsAreClaimed() {
        let claims = BlobClaims()
        #expect(claims.claim([self.a]) == [self.a])
        #expect(claims.claim([self.a, self.b]) == [self.b])
        claims.release(self.a)
        #expect(claims.claim([self.a, self.b]) == [self.a])
    }

    @Test func aWorkWaitsForTheClaim() async {
        let claims = BlobClaims()
        _ = claims.claim([self.a])
        let (order, continuation) = AsyncStream.makeStream(of: Int.self)
        async let first: Void = claims.with(self.a) {
            continuation.yield(2)
            continuation.finish()
        }
        await claims.with(self.b) { _ = continuation.yield(1) }
        claims.release(self.a)
        await first
        #expect(await order.reduce(into: []) { $0.append($1) } == [1, 2])
        #expect(claims.claim([self.a]) == [self.a])
    }
}

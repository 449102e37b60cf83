import ApusFramedProtocol
@testable import ApusFramedSocket
import Testing

@Suite struct FramedPiecesTests {
    private let pieces = InFlightPieces()

    @Test func fewPiecesCauseNoWait() async throws {
        try await self.pieces.wait(atMost: 0)
        self.pieces.began()
        #expect(self.pieces.count == 1)
        try await self.pieces.wait(atMost: 1)
    }

    @Test(.timeLimit(.minutes(5))) func theSenderIsWokenWhenFewEnoughAreLeft() async throws {
        for _ in 0..<3 { self.pieces.began() }
        async let waits: Void = self.pieces.wait(atMost: 1)
        for _ in 0..<2 { self.pieces.ended(.success(())) }
        try await waits
        #expect(self.pieces.count == 1)
    }

    @Test(.timeLimit(.minutes(5))) func aPieceThatFailsEndsTheWaitAndEveryLaterOne() async throws {
        for _ in 0..<3 { self.pieces.began() }
        let waits = Task { try await self.pieces.wait(atMost: 0) }
        self.pieces.ended(.failure(FramedError(.closed, message: "first")))
        self.pieces.ended(.failure(FramedError(.closed, message: "second")))
        await #expect { try await waits.value } throws: { ($0 as? FramedError)?.message == "first" }
        self.pieces.ended(.success(()))
        await #expect(throws: FramedError.self) { try await self.pieces.wait(atMost: 0) }
    }
}

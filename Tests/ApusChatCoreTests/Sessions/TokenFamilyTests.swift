import ApusChatCore
import Testing

@Suite struct TokenFamilyTests {
    private func family(generations: Int64 = 1) -> TokenFamily {
        var family = TokenFamily(at: 0)
        for generation in 1..<max(1, generations) { _ = family.refresh(generation: generation, at: 0) }
        return family
    }

    @Test func eachUseMakesTheNextToken() {
        var family = self.family()
        #expect(family.refresh(generation: 1, at: 10) == .rotate(generation: 2))
        #expect(family.refresh(generation: 2, at: 20) == .rotate(generation: 3))
    }

    @Test func aLostAnswerIsRepeatedForAMinute() {
        var family = self.family(generations: 2)
        #expect(family.refresh(generation: 1, at: 60_000) == .repeatAnswer(generation: 2))
        #expect(family.refresh(generation: 1, at: 60_000) == .repeatAnswer(generation: 2))
        #expect(family.refresh(generation: 1, at: 60_001) == .revoke)
    }

    @Test func anOldTokenAfterItsSuccessorWasUsedEndsTheSession() {
        var family = self.family(generations: 2)
        let uses = [family.accessTokenUsed(generation: 2), family.accessTokenUsed(generation: 2)]
        #expect(uses == [true, false], "stored once")
        #expect(family.refresh(generation: 1, at: 1) == .revoke)
        #expect(family.refresh(generation: 2, at: 2) == .refuse, "both parties are signed out")
    }

    @Test func aTokenTwoGenerationsOldEndsTheSession() {
        var family = self.family(generations: 3)
        #expect(family.refresh(generation: 1, at: 1) == .revoke)
        #expect(family.isRevoked)
    }

    @Test(arguments: [Int64.min, -1, 0, 3, .max]) func unknownGenerationsAreRefused(generation: Int64) {
        var family = self.family(generations: 2)
        #expect(family.refresh(generation: generation, at: 1) == .refuse)
        #expect(!family.isRevoked)
    }

    @Test func anUnusedFamilyEnds() {
        var family = TokenFamily(at: 0, lifetime: 1_000)
        #expect(family.refresh(generation: 1, at: 1_001) == .refuse)
        #expect(family.refresh(generation: 1, at: 1_001, isClockTrusted: false) == .rotate(generation: 2), "no age after a leap")
    }

    @Test func aStoredFamilyContinues() {
        var family = self.family(generations: 4)
        var stored = TokenFamily(
            generation: family.generation, isConfirmed: family.isConfirmed, rotatedAt: family.rotatedAt, isRevoked: family.isRevoked,
            lifetime: family.lifetime)
        #expect(stored == family)
        #expect(stored.refresh(generation: 3, at: 5) == family.refresh(generation: 3, at: 5))
        stored.revoke()
        #expect(stored.refresh(generation: 4, at: 5) == .refuse)
    }
}

import ApusChatCore
import ApusSeededRandom
import Testing

/// Two clients with the tokens of one family, and lost answers, compared with the rules of
/// docs/chat-wire.md.
@Suite struct TokenFamilyModelTests {
    /// A client with the newest token that it has received.
    private struct Client {
        var generation: Int64 = 1
    }

    /// An honest client whose answers are sometimes lost never loses its session if it retries
    /// within a minute.
    @Test(arguments: 1...40 as ClosedRange<UInt64>) func aClientThatRetriesKeepsItsSession(seed: UInt64) {
        var generator = SplitMix64(state: seed)
        var family = TokenFamily(at: 0)
        var client = Client()
        var time: Int64 = 0
        for _ in 0..<200 {
            time += Int64.random(in: 0...20_000_000, using: &generator)
            // Retries until an answer arrives, at most a minute after the first attempt.
            let end = time + TokenFamily.repetition
            var isReceived = false
            repeat {
                let next: Int64
                switch family.refresh(generation: client.generation, at: time) {
                case .rotate(let generation), .repeatAnswer(let generation): next = generation
                case .revoke, .refuse:
                    Issue.record("an honest client lost its session")
                    return
                }
                #expect(next == client.generation + 1)
                isReceived = Int.random(in: 0..<3, using: &generator) == 0 || time >= end
                if isReceived { client.generation = next }
                time = min(end, time + Int64.random(in: 0...20_000, using: &generator))
            } while !isReceived
            _ = family.accessTokenUsed(generation: client.generation)
        }
    }

    /// A thief who uses a stolen token is found as soon as both have used the family, and no token
    /// is accepted afterwards.
    @Test(arguments: 1...40 as ClosedRange<UInt64>) func twoClientsWithTheSameTokensAreFound(seed: UInt64) {
        var generator = SplitMix64(state: seed)
        var family = TokenFamily(at: 0)
        var owner = Client()
        for _ in 0..<Int.random(in: 0...5, using: &generator) {
            guard case .rotate(let next) = family.refresh(generation: owner.generation, at: 0) else { return }
            owner.generation = next
            _ = family.accessTokenUsed(generation: next)
        }
        var clients = [owner, owner]
        var uses = [0, 0]
        var time: Int64 = 0
        for _ in 0..<50 {
            time += Int64.random(in: 0...2 * TokenFamily.repetition, using: &generator)
            let index = Int.random(in: 0...1, using: &generator)
            switch family.refresh(generation: clients[index].generation, at: time) {
            case .rotate(let next):
                #expect(uses.contains(0), "both clients use the family")
                clients[index].generation = next
                _ = family.accessTokenUsed(generation: next)
                uses[index] += 1
            case .repeatAnswer: Issue.record("the successor was used")
            case .revoke, .refuse:
                #expect(family.isRevoked)
                for generation in -1...family.generation + 1 {
                    #expect(family.refresh(generation: generation, at: time) == .refuse)
                    let isUsed = family.accessTokenUsed(generation: generation)
                    #expect(!isUsed)
                }
                return
            }
        }
        // Only one of the two used the family.
        #expect(uses.contains(0))
    }

    /// No time and no order of calls traps or moves the generation backwards.
    @Test(arguments: 1...40 as ClosedRange<UInt64>) func anyCallsKeepTheFamilyValid(seed: UInt64) {
        var generator = SplitMix64(state: seed)
        let lifetime = Int64.random(in: 0...1_000_000, using: &generator)
        var family = TokenFamily(at: Int64.random(in: .min ... .max, using: &generator), lifetime: lifetime)
        for _ in 0..<300 {
            let before = family
            let generation = Int64.random(in: -1...family.generation + 2, using: &generator)
            let time =
                Int.random(in: 0..<4, using: &generator) == 0
                ? Int64.random(in: .min ... .max, using: &generator) : Int64.random(in: 0...10_000_000, using: &generator)
            if Bool.random(using: &generator) {
                let isChanged = family.accessTokenUsed(generation: generation)
                #expect(isChanged == (family != before))
            } else {
                let action = family.refresh(generation: generation, at: time, isClockTrusted: Bool.random(using: &generator))
                switch action {
                case .rotate(let next): #expect(next == before.generation + 1 && family.generation == next && !family.isConfirmed)
                case .repeatAnswer(let next):
                    #expect(family == before && next == before.generation && generation == next - 1 && !before.isConfirmed)
                case .refuse: #expect(family == before)
                case .revoke: #expect(family.isRevoked && !before.isRevoked && family.generation == before.generation)
                }
            }
            #expect(family.generation >= before.generation && (family.isRevoked || !before.isRevoked))
        }
    }

    @Test(
        arguments: [(1_000, 1_000, true), (1_000, 1_001, false), (0, 0, true), (0, 1, false), (.max, .max, true)] as [(Int64, Int64, Bool)])
    func aFamilyEndsAfterItsLifetime(lifetime: Int64, age: Int64, isAccepted: Bool) {
        var family = TokenFamily(at: 0, lifetime: lifetime)
        #expect(family.refresh(generation: 1, at: age) == (isAccepted ? .rotate(generation: 2) : .refuse))
        #expect(!family.isRevoked, "an expiry is not a theft")
    }

    /// A clock that was set back makes no token younger than new, and none older.
    @Test func aClockThatIsSetBackEndsNoFamily() {
        var family = TokenFamily(at: 1_000_000, lifetime: 1_000)
        #expect(family.refresh(generation: 1, at: 0) == .rotate(generation: 2))
        #expect(family.rotatedAt == 0)
        #expect(family.refresh(generation: 1, at: -5) == .repeatAnswer(generation: 2))
    }
}

import Testing

@testable import ApusChatSimulator

/// Each planted bug is found as the violation that it is. A bug that another rule finds by chance
/// would be missed by other seeds.
@Suite("Violations of the planted bugs")
struct PlantedFaultTests {
    /// Returns the words that the first fault of a bug contains, in their order.
    private static func words(of bug: PlantedBug) -> [String] {
        switch bug {
        case .ackBeforeCommit: ["device ", "is acknowledged as ", "and in the log as []"]
        case .retryByStoredBody: ["the decision on send(", " is repeated(", " instead of refused("]
        case .outboxReversed: ["device ", "overtook an earlier one of its device"]
        case .earlyPushSkips: ["the core passed over event ", " without a gap"]
        case .unreadCountsChanges: ["the head of ", " unread instead of "]
        case .mentionsSurviveRecall: ["the head of ", " mentions instead of "]
        case .recalledServed: ["is recalled and served as normal"]
        case .expiredServed: ["is expired and served as normal"]
        case .formerServed, .floorIgnored: ["event ", "is outside of what the user may see"]
        case .voteCountedTwice: ["vote ", " makes the votes ", " instead of "]
        case .scheduleFiresTwice: ["later ", "is in the log twice"]
        case .previewAfterRecall: ["the decision on setPreview(", " instead of "]
        case .stalledLosesHead: ["connection ", "was not told after its stall that "]
        case .linkPastLimit: ["the decision on joinByLink(", " is accepted(", " instead of refused("]
        case .forwardUnseen: [", forwarded by ", "is not visible to the user"]
        case .recallReachesCopies: ["is text recalled instead of text normal"]
        case .replyCountedAgain: ["the thread of event ", " replies instead of "]
        case .callsCollide: ["the decision on startCall(", " is accepted(", " instead of "]
        case .restartForgetsCalls: ["the call ", " rings forever"]
        case .deletedForMeServed: ["is hidden from the user and served as text"]
        case .deletedForAll: ["is hidden normal instead of text normal"]
        case .erasureIncomplete: ["is erased and served as normal"]
        case .slowModeForgets: ["the decision on send(", " is accepted(", " instead of refused("]
        case .previewStays: ["has the text ", " instead of "]
        }
    }

    @Test(arguments: PlantedBug.allCases) func theFirstFaultNamesTheViolation(bug: PlantedBug) throws {
        let outcome = Simulation(seed: bug.seed, bug: bug).run()
        let fault = try #require(outcome.faults.first)
        var rest = fault[...]
        for word in Self.words(of: bug) {
            guard let found = rest.firstRange(of: word) else {
                Issue.record("\(word) is missing in: \(fault.prefix(1_000))")
                return
            }
            rest = rest[found.upperBound...]
        }
        #expect(outcome.steps <= Simulation.stepCount)
    }
}

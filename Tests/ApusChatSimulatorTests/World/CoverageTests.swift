import ApusChatCore
import ApusChatProtocol
import ApusChatStorage
import Testing

@testable import ApusChatSimulator

/// The classification of commands, by which a set of runs shows what it covers.
@Suite("Coverage of runs")
struct CoverageTests {
    private static let room = ConversationKey(7)
    private static let target = EventAddress(room, 1)
    private static let user = UserKey(2)

    private static func send(_ content: MessageContent, thread: Int64 = 0) -> Command.Action {
        .send(SendCommand(conversation: Self.room, content: .success(content), thread: thread))
    }

    private static let text = MessageContent(kind: .text, body: Body.json("x"))
    private static let poll = MessageContent(kind: .poll, body: Body.poll("x", options: 2), options: 2)

    private static let actions: [(Verb, Command.Action)] = [
        (.text, send(text)), (.poll, send(poll)), (.reply, send(text, thread: 3)), (.reply, send(poll, thread: 3)),
        (.text, .send(SendCommand(conversation: room, content: .failure(ChatError(.badRequest, message: ""))))),
        (.forward, .forward(room, .success([]))), (.mark, .mark(MarkCommand(conversation: room, read: 1))),
        (.edit, .edit(target, .success(text))), (.recall, .recall(target)), (.react, .react(target, key: "a", isOn: true)),
        (.vote, .vote(target, options: [])), (.closePoll, .closePoll(target)), (.pin, .pin(target, isOn: true)), (.hide, .hide(room, [1])),
        (
            .schedule,
            .schedule(
                ScheduleCommand(send: SendCommand(conversation: room, content: .success(text)), kind: .text, body: "", sendAt: 1))
        ), (.setPreview, .setPreview(PreviewCommand(target: target, before: "", after: "", change: ""))),
        (.removePreview, .removePreview(target)), (.startCall, .startCall(room, .audio)), (.updateCall, .updateCall(target, .ended)),
        (.blank, .blank([target], .expired)), (.finishErasure, .finishErasure(user)), (.openPair, .openPair(peer: user, new: room)),
        (.create, .create(CreateCommand(profile: ConversationProfile(), new: room))), (.set, .set(room, ConversationUpdate())),
        (.invite, .invite(room, [user])), (.answerInvitation, .answerInvitation(room, accepts: true)),
        (.leave, .leave(room, forgets: false)), (.remove, .remove(room, [user])), (.ban, .ban(room, [user], isOn: true)),
        (.unban, .ban(room, [user], isOn: false)), (.silence, .silence(room, [user], until: 1)), (.setRole, .setRole(room, [user], .admin)),
        (.transfer, .transfer(room, to: user)), (.createLink, .createLink(room, LinkTerms(code: "x"))), (.revokeLink, .revokeLink("x")),
        (.joinByLink, .joinByLink("x")), (.answerRequest, .answerRequest(room, user, approves: true)),
        (.draft, .personalize(room, .draft("x"))), (.personalize, .personalize(room, .pin(true))),
        (.personalize, .personalizeAll(room, [.pin(true)])), (.request, .contact(user, .request(text: ""))),
        (.request, .contact(user, .remove)), (.block, .contact(user, .block(true))), (.block, .contact(user, .block(false))),
        (.other, .delete(room)), (.other, .join(room)), (.other, .updateProfile(ProfileUpdate())),
    ]

    @Test func eachCommandHasItsVerb() throws {
        var seen: Set<Verb> = []
        for (verb, action) in Self.actions {
            let command = Command(actor: Self.user, device: DeviceKey(0), request: nil, action: action)
            #expect(Verb(command) == verb, "\(action)")
            seen.insert(verb)
        }
        // `unschedule` and `sendScheduled` need the id of a client.
        let id = try #require(ClientID("a"))
        let scheduled: [(Verb, Command.Action)] = [
            (.unschedule, .unschedule(id)),
            (
                .sendScheduled,
                .sendScheduled(ScheduledAddress(Self.user, id), SendCommand(conversation: Self.room, content: .success(Self.text)))
            ),
        ]
        for (verb, action) in scheduled {
            #expect(Verb(Command(actor: Self.user, device: DeviceKey(0), request: nil, action: action)) == verb)
            seen.insert(verb)
        }
        #expect(seen == Set(Verb.allCases), "a verb that no command has would always be missing")
    }

    /// A decision counts in one column, and only accepted commands cover their verb.
    @Test(arguments: [
        (Decision.accepted(StoredAnswer(conversation: room, seq: 3, n: 0, at: 1)), 0, true),
        (.accepted(StoredAnswer(conversation: room, seq: 0, n: 0, at: 1)), 1, true),
        (.repeated(StoredAnswer(conversation: room, seq: 3, n: 0, at: 1)), 2, false),
        (.refused(ChatError(.forbidden, message: "")), 3, false),
    ])
    func aDecisionCountsInItsColumn(decision: Decision, column: Int, covers: Bool) {
        var coverage = Coverage()
        coverage.note(.pin, decision)
        #expect(coverage.verbs[Verb.pin.rawValue].enumerated().allSatisfy { $0.element == ($0.offset == column ? 1 : 0) })
        #expect(coverage.missing.contains("pin") != covers)
    }

    @Test(arguments: [
        ["--seeds", "1-x-9"], ["--seeds", "1--9"], ["--seeds", "-1-9"], ["--seeds", "x1-2-3"], ["--seeds", "1-2-"], ["--seeds", ""],
    ])
    func aMistypedRangeIsRefused(arguments: [String]) { #expect(Options(arguments) == nil) }

    /// After ten failures no further seed is started, so that a broken rule ends soon.
    @Test(arguments: [1, 4]) func tenFailuresAreEnough(jobs: Int) async throws {
        let options = try #require(
            Options(["--seeds", "1-60", "--jobs", "\(jobs)", "--planted", PlantedBug.unreadCountsChanges.rawValue]))
        let report = await Runner(options: options).run()
        #expect((10..<10 + jobs).contains(report.failures.count) && report.seeds < 60, "\(report.failures.count) of \(report.seeds)")
        for failure in report.failures { #expect(failure.text.contains("scripts/simulate --seed \(failure.seed) --trace")) }
    }

    /// The highest seed is run like any other.
    @Test func theHighestSeedRuns() async throws {
        let options = try #require(Options(["--seeds", "\(UInt64.max - 1)-\(UInt64.max)", "--jobs", "1"]))
        let report = await Runner(options: options).run()
        #expect(report.seeds == 2 && report.failures.isEmpty)
    }
}

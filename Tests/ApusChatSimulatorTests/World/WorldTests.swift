import ApusChatCore
import ApusChatProtocol
import ApusChatStorage
import Testing

@testable import ApusChatSimulator

/// The parts of a run that make it repeatable.
@Suite("World of a run")
struct WorldTests {
    // MARK: Timers

    @Test(arguments: 0..<20) func timersAreInTheOrderOfTheirTimes(seed: Int) {
        let generator = SeededGenerator(seed: UInt64(seed))
        let agenda = Agenda()
        var expected: [(due: Int64, life: Int)] = []
        for life in 0..<200 {
            let due = generator.number(0...40)
            agenda.add(.probe(life: life), at: due)
            expected.append((due, life))
        }
        // Timers of one time are in the order in which they were added.
        expected.sort { ($0.due, $0.life) < ($1.due, $1.life) }
        var lives: [Int] = []
        for time in Int64(0)...40 {
            while case .probe(let life)? = agenda.next(at: time) {
                #expect(expected[lives.count].due == time)
                lives.append(life)
            }
            #expect(agenda.firstDue.map { $0 > time } ?? true)
        }
        #expect(lives == expected.map(\.life) && agenda.isEmpty && agenda.firstDue == nil)
    }

    @Test func noTimerIsDueBeforeItsTime() {
        let agenda = Agenda()
        #expect(agenda.next(at: .max) == nil)
        agenda.add(.digest(life: 1), at: 10)
        #expect(agenda.next(at: 9) == nil && agenda.firstDue == 10)
        guard case .digest(life: 1)? = agenda.next(at: 10) else {
            Issue.record("the timer is not due")
            return
        }
        #expect(agenda.isEmpty)
    }

    @Test func onlyTheWallClockOfTheServerJumps() {
        let clock = SimulatedClock()
        let (wall, device) = (clock.wall, clock.device)
        clock.advance(500)
        clock.jump(-3_600_000)
        #expect(clock.monotonic == 500 && clock.wall == wall + 500 - 3_600_000 && clock.device == device + 500)
    }

    // MARK: Random numbers

    @Test func aSeedGivesTheSameNumbers() {
        func numbers(_ seed: UInt64) -> [UInt64] {
            let generator = SeededGenerator(seed: seed)
            return (0..<50).map { _ in generator.next() }
        }
        #expect(numbers(7) == numbers(7) && numbers(7) != numbers(8))
    }

    @Test(arguments: [(-5, 1), (0, 1), (1, 1), (2, 2), (7, 7)]) func numbersAreBelowTheCount(count: Int, different: Int) {
        let generator = SeededGenerator(seed: 1)
        let numbers = Set((0..<1_000).map { _ in generator.below(count) })
        #expect(numbers == Set(0..<different))
    }

    @Test func rangesAndChoicesAreWithinTheirBounds() {
        let generator = SeededGenerator(seed: 1)
        #expect(Set((0..<500).map { _ in generator.number(-2...2) }) == [-2, -1, 0, 1, 2] && generator.number(9...9) == 9)
        #expect(generator.pick([Int]()) == nil && generator.pick([3]) == 3)
        #expect(
            (0..<500).allSatisfy { _ in !generator.chance(perMille: 0) } && (0..<500).allSatisfy { _ in generator.chance(perMille: 1_000) })
    }

    @Test func everyUserHasItsNameAndTwoOrThreeDevices() {
        let population = Population(SeededGenerator(seed: 5))
        #expect(population.users.count == 50 && Set(population.names).count == 50 && Set(population.own.values).count == 50)
        for user in population.users { #expect((2...3).contains(population.devices.count { $0 == user })) }
        let oracle = Oracle(own: population.own, names: population.names, rules: ChatRules())
        for (user, name) in zip(population.users, population.names) {
            #expect(oracle.name(of: user) == name && oracle.user(named: name.rawValue) == user)
        }
        #expect(oracle.name(of: UserKey(0)) == nil && oracle.name(of: UserKey(51)) == nil && oracle.user(named: "nobody") == nil)
    }

    // MARK: Bodies

    @Test func aBodyHasItsTextAndTitle() {
        let plain = Body.json("hello")
        let linked = Body.adding(title: "page", to: plain)
        for body in [plain, linked, Body.forwarded(plain, from: "ann"), Body.forwarded(linked, from: "ann")] {
            #expect(Body.text(body) == "hello")
        }
        #expect(Body.title(plain).isEmpty && Body.title(linked) == "page" && Body.title(Body.forwarded(linked, from: "ann")) == "page")
        #expect(
            Body.forwarded(linked, from: nil) == linked && !Body.isForwarded(linked) && Body.isForwarded(Body.forwarded(plain, from: "ann"))
        )
        #expect(Body.title(Body.change(title: "page")) == "page" && Body.text(Body.poll("when", options: 3)) == "when")
        #expect(Body.text("").isEmpty && Body.title("").isEmpty && Body.text("{\"other\":1}").isEmpty)
        #expect(Body.hasLink("link 7") && !Body.hasLink("a link") && !Body.hasLink(""))
    }
}

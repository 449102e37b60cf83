import ApusChatCore
import ApusChatProtocol
import ApusChatStorage
import Testing

@Suite struct SequencerTests {
    let world = World()
    private let first = ConversationKey(1)
    private let second = ConversationKey(2)

    private func numbers(_ batch: [Sequencer.Entry]) -> [Int64] { batch.map(\.number) }

    @Test func messagesOfAConversationAreTogether() {
        var sequencer = Sequencer()
        for (number, key) in [(1, self.first), (2, self.second), (3, self.first), (4, self.second)] {
            #expect(sequencer.enqueue(self.world.text(UserKey(Int64(number)), key), number: Int64(number)) == nil)
        }
        #expect(self.numbers(sequencer.takeBatch()) == [1, 3, 2, 4])
        #expect(sequencer.takeBatch().isEmpty)
    }

    @Test func otherCommandsKeepTheirPlace() {
        var sequencer = Sequencer()
        let user = UserKey(1)
        let commands = [
            self.world.text(user, self.second), self.world.text(user, self.first),
            self.world.command(user, .leave(self.first, forgets: false)), self.world.text(user, self.second),
            self.world.text(user, self.first),
        ]
        for (index, command) in commands.enumerated() { _ = sequencer.enqueue(command, number: Int64(index)) }
        #expect(self.numbers(sequencer.takeBatch()) == [0, 1, 2, 3, 4])
    }

    @Test func aBatchThatTakesLongMakesTheNextOnesSmaller() {
        var bounds = Sequencer.Bounds()
        bounds.commands = 64
        var sequencer = Sequencer(bounds: bounds)
        for number in 1...400 { _ = sequencer.enqueue(self.world.text(UserKey(1), self.first), number: Int64(number)) }
        var sizes: [Int] = []
        for milliseconds in [51, 51, 51, 50, 50, 50] as [Int64] {
            sizes.append(sequencer.takeBatch().count)
            sequencer.decided(in: milliseconds)
        }
        #expect(sizes == [64, 32, 16, 16, 32, 64])
    }

    @Test func aBatchIsBoundedByCountAndBytes() {
        var bounds = Sequencer.Bounds()
        bounds.commands = 2
        var sequencer = Sequencer(bounds: bounds)
        for number in 1...3 { _ = sequencer.enqueue(self.world.text(UserKey(1), self.first), number: Int64(number)) }
        #expect(self.numbers(sequencer.takeBatch()) == [1, 2])
        #expect(self.numbers(sequencer.takeBatch()) == [3])

        bounds.commands = 10
        bounds.bytes = 1_000
        sequencer = Sequencer(bounds: bounds)
        let long = String(repeating: "x", count: 700)
        for number in 1...3 { _ = sequencer.enqueue(self.world.text(UserKey(1), self.first, long), number: Int64(number)) }
        #expect(self.numbers(sequencer.takeBatch()) == [1])
        #expect(sequencer.count == 2)
        #expect(self.numbers(sequencer.takeBatch()) == [2])
        #expect(self.numbers(sequencer.takeBatch()) == [3])
    }

    @Test func aCommandAboveTheBoundIsASeparateBatch() {
        var bounds = Sequencer.Bounds()
        bounds.bytes = 10
        var sequencer = Sequencer(bounds: bounds)
        _ = sequencer.enqueue(self.world.text(UserKey(1), self.first), number: 1)
        _ = sequencer.enqueue(self.world.text(UserKey(1), self.first), number: 2)
        #expect(self.numbers(sequencer.takeBatch()) == [1])
        #expect(self.numbers(sequencer.takeBatch()) == [2])
    }

    @Test func aFloodIsRefusedAndOthersAreNot() {
        var sequencer = Sequencer(queue: .init(underWay: .max, waitingOfUser: 2, waiting: 4))
        let codes = (1...3).map { sequencer.enqueue(self.world.text(UserKey(1), self.first), number: $0)?.code }
        #expect(codes == [nil, nil, .tooMany])
        _ = sequencer.enqueue(self.world.text(UserKey(2), self.first), number: 4)
        _ = sequencer.enqueue(self.world.text(UserKey(3), self.first), number: 5)
        #expect(sequencer.enqueue(self.world.text(UserKey(4), self.first), number: 6)?.code == .unavailable)
    }
}

import ApusChatCore
import ApusChatStorage
import NIOConcurrencyHelpers
import Testing

@testable import ApusChatService

/// The order of the changes of one connection.
@Suite struct CommandLaneTests {
    private let lane = CommandLane()
    /// The numbers of the started steps, in order.
    private let log = NIOLockedValueBox<[Int]>([])
    /// The functions that end the running steps, by number.
    private let ends = NIOLockedValueBox<[Int: @Sendable () -> Void]>([:])

    private var begun: [Int] { self.log.withLockedValue { $0 } }

    /// Submits a step that runs until the test ends it.
    private func run(_ number: Int) {
        let (log, ends) = (self.log, self.ends)
        self.lane.run { next in
            log.withLockedValue { $0.append(number) }
            ends.withLockedValue { $0[number] = next }
        }
    }

    private func end(_ number: Int) { self.ends.withLockedValue { $0.removeValue(forKey: number) }?() }

    @Test func aStepBeginsAfterTheOneBeforeIt() {
        for number in 1...3 { self.run(number) }
        #expect(self.begun == [1])
        self.end(1)
        #expect(self.begun == [1, 2])
        self.run(4)
        self.end(2)
        #expect(self.begun == [1, 2, 3])
        self.end(3)
        #expect(self.begun == [1, 2, 3, 4])
        self.end(4)
        self.run(5)
        #expect(self.begun == [1, 2, 3, 4, 5], "an idle lane begins at once")
    }

    @Test func stepsThatEndAtOnceRunInOrder() {
        let log = self.log
        self.run(0)
        for number in 1...64 {
            self.lane.run { next in
                log.withLockedValue { $0.append(number) }
                next()
            }
        }
        #expect(self.begun == [0])
        self.end(0)
        #expect(self.begun == Array(0...64))
    }

    @Test func aStepThatAStepAddsIsTheLast() {
        let (log, lane) = (self.log, self.lane)
        lane.run { next in
            log.withLockedValue { $0.append(1) }
            lane.run { next in
                log.withLockedValue { $0.append(3) }
                next()
            }
            log.withLockedValue { $0.append(2) }
            next()
        }
        #expect(self.begun == [1, 2, 3])
        self.run(4)
        #expect(self.begun == [1, 2, 3, 4])
    }

    /// Each step from several threads runs once, and no two run at the same time.
    @Test func stepsOfManyThreadsExcludeEachOther() async {
        let (running, most, count) = (NIOLockedValueBox(0), NIOLockedValueBox(0), NIOLockedValueBox(0))
        let lane = self.lane
        await withTaskGroup(of: Void.self) { group in
            for _ in 0..<4 {
                group.addTask {
                    for _ in 0..<200 {
                        await withCheckedContinuation { continuation in
                            lane.run { next in
                                let now = running.withLockedValue { value in
                                    value += 1
                                    return value
                                }
                                most.withLockedValue { $0 = max($0, now) }
                                count.withLockedValue { $0 += 1 }
                                running.withLockedValue { $0 -= 1 }
                                continuation.resume()
                                next()
                            }
                        }
                    }
                }
            }
        }
        #expect(most.withLockedValue { $0 } == 1)
        #expect(count.withLockedValue { $0 } == 800)
    }

    // MARK: Requesters

    @Test func aCommandBelongsToTheDevice() {
        let requester = Requester(user: UserKey(3), device: DeviceKey(31), origin: [.address(7)])
        let command = requester.command(.unschedule(.make("s")), nil)
        #expect(command.actor == UserKey(3) && command.device == DeviceKey(31) && command.request == nil)
    }
}

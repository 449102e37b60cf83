import ApusChatCore
import ApusChatProtocol
import ApusChatSQLite
import ApusChatService
import ApusChatStorage
import NIOConcurrencyHelpers
import NIOCore
import NIOEmbedded
import NIOPosix
import Testing

@Suite struct ChatLogTests {
    @Test func simultaneousCommandsFormOneBatchWithAcksFirst() throws {
        let fixture = try LogFixture(MemoryStorage())
        for _ in 1...3 { fixture.send() }
        #expect(fixture.takeOutput().isEmpty)
        fixture.loop.run()
        #expect(fixture.takeOutput() == ["ack 1", "ack 2", "ack 3", "events 1...3"])
    }

    @Test func aBatchIsBounded() throws {
        let fixture = try LogFixture(MemoryStorage())
        let text = String(repeating: "x", count: 400_000)
        for _ in 1...5 { fixture.send(text: text) }
        fixture.loop.run()
        #expect(fixture.takeOutput().filter { $0.hasPrefix("events") } == ["events 1...2", "events 3...4", "events 5...5"])
    }

    @Test func aRefusedCommandFailsAlone() throws {
        let fixture = try LogFixture(MemoryStorage())
        fixture.send()
        fixture.send(ConversationKey(99))
        fixture.send()
        fixture.loop.run()
        #expect(Set(fixture.takeOutput()) == ["ack 1", "refused not_found", "ack 2", "events 1...2"])
    }

    @Test func aRetryGetsTheFirstAck() throws {
        let fixture = try LogFixture(MemoryStorage())
        fixture.send(id: "same")
        fixture.loop.run()
        fixture.send(id: "same")
        fixture.send(id: "other")
        fixture.loop.run()
        #expect(fixture.takeOutput() == ["ack 1", "events 1...1", "ack 1", "ack 2", "events 2...2"])
    }

    @Test(arguments: [(Int32(13), Committer.Health.readOnly(.full), "storage"), (Int32(10 | 4 << 8), .readOnly(.io), "unavailable")])
    func aFailedDiskRefusesUntilItTakesWritesAgain(fault: Int32, health: Committer.Health, refusal: String) throws {
        let folder = TemporaryFolder()
        let code = NIOLockedValueBox<Int32>(0)
        var environment = SQLiteEnvironment()
        environment.commitFault = { code.withLockedValue { $0 } }
        let fixture = try LogFixture(try SQLiteStorage(try ChatFolder(folder.path), environment: environment))
        fixture.send()
        fixture.loop.run()
        code.withLockedValue { $0 = fault }
        fixture.send(id: "lost")
        fixture.send()
        fixture.loop.run()
        #expect(fixture.log.health == health)
        fixture.send()
        fixture.loop.run()
        #expect(fixture.takeOutput() == ["ack 1", "events 1...1"] + Array(repeating: "refused \(refusal)", count: 3))
        // The first test of the disk fails as well.
        fixture.loop.advanceTime(by: .seconds(1))
        #expect(fixture.log.health == health)
        code.withLockedValue { $0 = 0 }
        fixture.loop.advanceTime(by: .seconds(2))
        #expect(fixture.log.health == .writable)
        fixture.send(id: "lost")
        fixture.loop.run()
        #expect(fixture.takeOutput() == ["ack 2", "events 2...2"])
    }

    /// `SQLITE_BUSY`, for example during a backup of the database by another program.
    @Test(arguments: [(1, ["ack 1", "events 1...1"]), (4, ["refused storage"])])
    func aBusyDatabaseIsRetried(failures: Int, output: [String]) throws {
        let folder = TemporaryFolder()
        let remaining = NIOLockedValueBox(0)
        var environment = SQLiteEnvironment()
        environment.commitFault = {
            remaining.withLockedValue { remaining in
                remaining -= 1
                return remaining >= 0 ? 5 : 0
            }
        }
        let fixture = try LogFixture(try SQLiteStorage(try ChatFolder(folder.path), environment: environment))
        remaining.withLockedValue { $0 = failures }
        fixture.send(id: "same")
        fixture.loop.run()
        #expect(fixture.takeOutput() == output)
        #expect(fixture.log.health == .writable)
        fixture.send(id: "same")
        fixture.loop.run()
        #expect(fixture.takeOutput().first == "ack 1")
    }

    /// `SQLITE_CONSTRAINT`, for example after an error in this program. The batch of five, its
    /// second half, and each part with the third command fail.
    @Test func aCommandThatCannotBeWrittenFailsAlone() throws {
        let folder = TemporaryFolder()
        let codes = NIOLockedValueBox<[Int32]>([])
        var environment = SQLiteEnvironment()
        environment.commitFault = { codes.withLockedValue { $0.isEmpty ? 0 : $0.removeFirst() } }
        let fixture = try LogFixture(try SQLiteStorage(try ChatFolder(folder.path), environment: environment))
        codes.withLockedValue { $0 = [19, 0, 19, 19, 0] }
        for number in 1...5 { fixture.send(id: "m\(number)") }
        fixture.loop.run()
        #expect(
            fixture.takeOutput() == ["ack 1", "ack 2", "events 1...2", "refused internal", "ack 3", "ack 4", "events 3...4"])
        #expect(codes.withLockedValue { $0.isEmpty })
        #expect(fixture.log.health == .writable)
        fixture.send()
        fixture.loop.run()
        #expect(fixture.takeOutput() == ["ack 5", "events 5...5"])
    }

    @Test func corruptDataEndsAllWrites() throws {
        let folder = TemporaryFolder()
        let code = NIOLockedValueBox<Int32>(0)
        var environment = SQLiteEnvironment()
        environment.commitFault = { code.withLockedValue { $0 } }
        let fixture = try LogFixture(try SQLiteStorage(try ChatFolder(folder.path), environment: environment))
        code.withLockedValue { $0 = 11 }
        fixture.send()
        fixture.loop.run()
        code.withLockedValue { $0 = 0 }
        fixture.loop.advanceTime(by: .hours(1))
        fixture.send()
        fixture.loop.run()
        #expect(fixture.log.health == .failed(.corrupt))
        #expect(fixture.takeOutput() == ["refused storage", "refused storage"])
    }

    @Test func aClosedLogRefusesCommands() async throws {
        let fixture = try LogFixture(MemoryStorage(), on: MultiThreadedEventLoopGroup.singleton.next())
        let answer = try await fixture.log.submit(fixture.message())
        #expect(answer.seq == 1)
        await fixture.log.close()
        let error = await #expect(throws: ChatError.self) { try await fixture.log.submit(fixture.message()) }
        #expect(error?.code == .unavailable)
    }

    @Test func theStorageIsReachedBetweenBatches() async throws {
        let fixture = try LogFixture(MemoryStorage(), on: MultiThreadedEventLoopGroup.singleton.next())
        _ = try await fixture.log.submit(fixture.message())
        let seq = try await fixture.log.withStorage { storage in
            try storage.head(of: LogFixture.user, in: LogFixture.group)?.conversation.counters.lastSeq
        }
        #expect(seq == 1)
    }
}

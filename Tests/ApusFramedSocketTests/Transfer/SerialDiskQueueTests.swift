import ApusFramedProtocol
@testable import ApusFramedSocket
import Foundation
import NIOConcurrencyHelpers
import NIOCore
import NIOPosix
import Testing

@Suite struct DiskLaneTests {
    private let eventLoop = MultiThreadedEventLoopGroup.singleton.any()

    /// More work than one job performs, from several threads.
    @Test(.timeLimit(.minutes(5))) func workIsDoneInOrderAndOneAtATime() async throws {
        let queue = SerialDiskQueue()
        let (done, isBusy) = (NIOLockedValueBox<[Int]>([]), NIOLockedValueBox(false))
        let futures = (0..<100).map { number in
            queue.run(on: self.eventLoop) {
                isBusy.withLockedValue { value in
                    #expect(!value)
                    value = true
                }
                done.withLockedValue { $0.append(number) }
                isBusy.withLockedValue { $0 = false }
                return number
            }
        }
        #expect(try await EventLoopFuture.whenAllSucceed(futures, on: self.eventLoop).get() == Array(0..<100))
        #expect(done.withLockedValue { $0 } == Array(0..<100))
    }

    @Test(.timeLimit(.minutes(5))) func aFailureStopsNoOtherJob() async throws {
        let queue = SerialDiskQueue()
        let fails = queue.run(on: self.eventLoop) { () throws -> Int in throw TransferError(.storage, message: "no disk") }
        let works = queue.run(on: self.eventLoop) { 1 }
        await #expect(throws: TransferError.self) { try await fails.get() }
        #expect(try await works.get() == 1)
    }

    /// Added work joins the submitted job, is counted while it waits, and is performed in order.
    @Test(.timeLimit(.minutes(5))) func aBacklogWritesInOrderAndCountsWhatWaits() async throws {
        let path = NSTemporaryDirectory() + "apus-backlog-\(UUID().uuidString)"
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(atPath: path) }
        let folder = try ReceivingFolder(path: path)
        let part = try folder.openPart(try TransferOffer(id: "x", name: SafeFileName("x"), size: 1 << 20))
        let counts = NIOLockedValueBox<[Int]>([])
        let reported = self.eventLoop.makePromise(of: Int.self)
        self.eventLoop.execute {
            var (waiting, appended) = (0, 0)
            let backlog = DiskBacklog(eventLoop: self.eventLoop) { change in
                waiting += change
                counts.withLockedValue { $0.append(waiting) }
            }
            for number in UInt8(1)...3 {
                backlog.append(.append([ByteBuffer(repeating: number, count: 10)], count: 10, to: part)) { outcome in
                    for case .appended(let count) in outcome.reports { appended += count }
                    if appended == 30 { reported.succeed(backlog.isEmpty ? 0 : 1) }
                }
            }
        }
        #expect(try await reported.futureResult.get() == 0)
        #expect(part.size == 30)
        #expect(counts.withLockedValue { $0.prefix(3) } == [10, 20, 30] && counts.withLockedValue { $0.last } == 0)
        let names = try FileManager.default.contentsOfDirectory(atPath: path)
        let bytes = FileManager.default.contents(atPath: path + "/" + (names.first ?? ""))
        #expect(bytes.map(Array.init) == (1...3).flatMap { [UInt8](repeating: $0, count: 10) })
    }
}

import ApusEventLoop
import NIOConcurrencyHelpers
import Testing

@Suite struct MailboxTests {
    /// An executor that runs its work when the test calls it.
    private final class Executor: Sendable {
        private let work = NIOLockedValueBox<[@Sendable () -> Void]>([])

        func run(_ work: @escaping @Sendable () -> Void) { self.work.withLockedValue { $0.append(work) } }

        var count: Int { self.work.withLockedValue { $0.count } }

        func runAll() { while let next = self.work.withLockedValue({ $0.isEmpty ? nil : $0.removeFirst() }) { next() } }
    }

    private let executor = Executor()
    private let received = NIOLockedValueBox<[Int]>([])
    private let resumed = NIOLockedValueBox(0)

    private func mailbox() -> Mailbox<Int> {
        Mailbox(
            maximumCount: 2, maximumBytes: 10, run: self.executor.run, resumeSource: { [resumed] in resumed.withLockedValue { $0 += 1 } },
            receive: { [received] number in received.withLockedValue { $0.append(number) } })
    }

    @Test func oneDeliveryIsScheduledForAllElements() {
        let mailbox = self.mailbox()
        #expect(!mailbox.post(1))
        #expect(mailbox.post(2))
        #expect(mailbox.isPaused)
        #expect(self.executor.count == 1)
        self.executor.runAll()
        #expect(self.received.withLockedValue { $0 } == [1, 2])
        #expect(self.resumed.withLockedValue { $0 } == 1)
        #expect(!mailbox.post(3))
        #expect(self.executor.count == 1)
    }

    @Test func elementsBeyondTheLimitsAreRefused() {
        let mailbox = self.mailbox()
        #expect(mailbox.postWithinLimits(1, bytes: 8))
        #expect(!mailbox.postWithinLimits(2, bytes: 3))
        #expect(mailbox.postWithinLimits(3, bytes: 2))
        #expect(!mailbox.postWithinLimits(4, bytes: 0))
        self.executor.runAll()
        #expect(self.received.withLockedValue { $0 } == [1, 3])
    }

    @Test func nothingIsDeliveredAfterACancellation() {
        let mailbox = self.mailbox()
        _ = mailbox.post(1)
        _ = mailbox.post(2)
        mailbox.cancel()
        #expect(!mailbox.isPaused)
        #expect(!mailbox.post(3))
        #expect(!mailbox.postWithinLimits(4, bytes: 0))
        self.executor.runAll()
        #expect(self.received.withLockedValue { $0 } == [])
    }

    @Test func theReceiverMayPostAndCancel() {
        let holder = NIOLockedValueBox<Mailbox<Int>?>(nil)
        let mailbox = Mailbox<Int>(maximumCount: 10, maximumBytes: 10, run: self.executor.run) { [received] number in
            received.withLockedValue { $0.append(number) }
            guard let mailbox = holder.withLockedValue({ $0 }) else { return }
            if number < 3 { mailbox.post(number + 1) } else { mailbox.cancel() }
        }
        holder.withLockedValue { $0 = mailbox }
        mailbox.post(1)
        self.executor.runAll()
        #expect(self.received.withLockedValue { $0 } == [1, 2, 3])
        holder.withLockedValue { $0 = nil }
    }
}

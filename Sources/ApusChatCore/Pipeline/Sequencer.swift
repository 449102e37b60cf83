package import ApusChatProtocol
import ApusChatStorage

/// Forms batches of the commands that arrive while the previous batch is written.
///
/// A batch contains commands of the users in turn, and its formation never waits for further
/// commands. Messages and marks of one conversation are grouped. Every other command keeps its
/// position, so that the commands of one user remain in order.
package struct Sequencer: Sendable {
    /// A command, and the number by which its session waits for the answer.
    package struct Entry: Sendable {
        package let command: Command
        package let number: Int64

        package init(command: Command, number: Int64) {
            self.command = command
            self.number = number
        }
    }

    /// The maximum size of one batch.
    package struct Bounds: Sendable {
        package var commands = 1_024
        /// The approximate number of bytes that a batch may add to the log.
        package var bytes = 1 << 20
        /// The time in which a batch should be decided, in milliseconds. After a batch that took
        /// longer, the limit of the next batch is halved.
        package var milliseconds: Int64 = 50
        package init() {}
    }

    private let bounds: Bounds
    private var queue: FairQueue<Entry>
    /// A command that did not fit into the last batch (`Bounds.bytes`) and begins the next one.
    private var held: Entry?
    /// The maximum number of commands of the next batch.
    private var limit: Int
    private static let minimumLimit = 16

    package init(bounds: Bounds = Bounds(), queue: FairQueue<Entry>.Bounds = .commands) {
        self.bounds = bounds
        self.limit = bounds.commands
        self.queue = FairQueue(bounds: queue)
    }

    /// The number of waiting commands.
    package var count: Int { self.queue.count + (self.held == nil ? 0 : 1) }

    /// Adds a command. Returns a refusal if the queue is full, with the time after which a retry
    /// can succeed.
    package mutating func enqueue(_ command: Command, number: Int64) -> ChatError? {
        switch self.queue.enqueue(Entry(command: command, number: number), for: command.actor) {
        case .admitted: nil
        case .userFull:
            ChatError(.tooMany, message: "Too many requests of this account are waiting. Wait for their answers.", retryAfter: 1_000)
        case .full: ChatError(.unavailable, message: "The server is overloaded. Try again later.", retryAfter: 2_000)
        }
    }

    /// Removes and returns the commands of the next batch; empty if no command waits.
    package mutating func takeBatch() -> [Entry] {
        var batch: [Entry] = []
        var bytes = 0
        batch.reserveCapacity(min(self.limit, self.count))
        while batch.count < self.limit, let entry = self.take() {
            let size = entry.command.byteCount
            if !batch.isEmpty, bytes + size > self.bounds.bytes {
                self.held = entry
                break
            }
            bytes += size
            batch.append(entry)
        }
        return Self.grouped(batch)
    }

    /// Records the time in which a batch was decided. The time depends on the number of rows that
    /// were not in memory.
    package mutating func decided(in milliseconds: Int64) {
        if milliseconds > self.bounds.milliseconds {
            self.limit = max(min(Self.minimumLimit, self.bounds.commands), self.limit / 2)
        } else {
            self.limit = min(self.bounds.commands, self.limit * 2)
        }
    }

    private mutating func take() -> Entry? {
        if let held = self.held {
            self.held = nil
            return held
        }
        guard let (user, entry) = self.queue.next() else { return nil }
        self.queue.finished(user)
        return entry
    }

    /// Groups consecutive messages and marks by conversation. Other commands are not moved, and
    /// separate the groups.
    private static func grouped(_ batch: [Entry]) -> [Entry] {
        var grouped: [Entry] = []
        grouped.reserveCapacity(batch.count)
        var groups: [ConversationKey: Int] = [:]
        var run: [[Entry]] = []
        func endRun() {
            for group in run { grouped += group }
            run.removeAll(keepingCapacity: true)
            groups.removeAll(keepingCapacity: true)
        }
        for entry in batch {
            guard entry.command.isMessageOrMark, let key = entry.command.conversation else {
                endRun()
                grouped.append(entry)
                continue
            }
            if let group = groups[key] {
                run[group].append(entry)
            } else {
                groups[key] = run.count
                run.append([entry])
            }
        }
        endRun()
        return grouped
    }
}

extension Command {
    fileprivate var isMessageOrMark: Bool {
        switch self.action {
        case .send, .mark: true
        default: false
        }
    }
}

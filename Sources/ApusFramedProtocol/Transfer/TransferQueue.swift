import DequeModule

/// Schedules the reading and sending of a long list of files. It performs no I/O.
///
/// The list is read ahead in batches, so that reading and sending overlap. Small files are sent
/// with their offers (``WholeFile``) and do not wait for large ones.
package struct TransferQueue<File> {
    package enum Next {
        /// Read the next batch of the list and call ``fetched(wholes:others:isLast:)``.
        case fetch
        /// Send the file and call ``ended(isWhole:)``.
        case begin(File)
        /// Do nothing until the next event.
        case wait
        /// The transfers of all files have ended.
        case finish
    }

    /// The maximum number of concurrent files of each kind.
    private let maximumWholes: Int
    private let maximumOthers: Int
    private var wholes = Deque<File>()
    private var others = Deque<File>()
    private var activeWholes = 0
    private var activeOthers = 0
    private var isFetching = false
    /// Whether the list has been read to its end, or was stopped.
    private var isAtEnd = false

    /// Creates an empty queue.
    ///
    /// - Parameters:
    ///   - wholes: The maximum number of concurrent whole files.
    ///   - others: The maximum number of concurrent other files.
    package init(wholes: Int, others: Int) {
        self.maximumWholes = max(1, wholes)
        self.maximumOthers = max(1, others)
    }

    /// Returns the next step. Call it repeatedly until it returns ``Next/wait`` or ``Next/finish``.
    package mutating func next() -> Next {
        // Fetch first, so that the disk works while files are sent. One batch bounds the number of
        // waiting files.
        if !self.isFetching, !self.isAtEnd, self.wholes.count < self.maximumWholes, self.others.count < self.maximumOthers {
            self.isFetching = true
            return .fetch
        }
        if self.activeWholes < self.maximumWholes, let file = self.wholes.popFirst() {
            self.activeWholes += 1
            return .begin(file)
        }
        if self.activeOthers < self.maximumOthers, let file = self.others.popFirst() {
            self.activeOthers += 1
            return .begin(file)
        }
        let isIdle = self.activeWholes + self.activeOthers == 0 && self.wholes.isEmpty && self.others.isEmpty
        return self.isAtEnd && isIdle && !self.isFetching ? .finish : .wait
    }

    /// Adds a batch of files.
    ///
    /// - Parameters:
    ///   - wholes: The files to send with their offers.
    ///   - others: The other files.
    ///   - isLast: Whether the list has ended.
    package mutating func fetched(wholes: some Sequence<File>, others: some Sequence<File>, isLast: Bool) {
        self.isFetching = false
        guard !self.isAtEnd else { return }  // The queue was stopped during the fetch.
        self.wholes.append(contentsOf: wholes)
        self.others.append(contentsOf: others)
        self.isAtEnd = isLast
    }

    /// Handles the end of a file, with any outcome.
    package mutating func ended(isWhole: Bool) {
        if isWhole { self.activeWholes -= 1 } else { self.activeOthers -= 1 }
    }

    /// Starts no more files. The queue finishes when the active ones have ended.
    package mutating func stop() {
        self.isAtEnd = true
        self.wholes = []
        self.others = []
    }
}

extension TransferQueue: Sendable where File: Sendable {}

import DequeModule

/// Which files of a long list are read, and which are sent. Pure; what a file is is the shell's business.
///
/// The list is read ahead of need, a piece at a time, so that the disk is at work while what was read is on its way. Small files go whole
/// (``WholeFile``) and do not wait for large ones.
package struct TransferQueue<File> {
    package enum Next {
        /// Read on in the list, and call ``fetched(_:isLast:)``.
        case fetch
        /// Send it, and call ``ended(isWhole:)``.
        case begin(File)
        /// Nothing now; an event will change that.
        case wait
        /// Everything has ended.
        case finish
    }

    /// So many of each kind are under way at a time.
    private let maximumWholes: Int
    private let maximumOthers: Int
    private var wholes = Deque<File>()
    private var others = Deque<File>()
    private var wholesUnderWay = 0
    private var othersUnderWay = 0
    private var isFetching = false
    /// Nothing more is fetched.
    private var isAtEnd = false

    /// - Parameters:
    ///   - wholes: How many whole files may be under way.
    ///   - others: How many others may.
    package init(wholes: Int, others: Int) {
        self.maximumWholes = max(1, wholes)
        self.maximumOthers = max(1, others)
    }

    /// What to do; to be asked again until it says ``Next/wait`` or ``Next/finish``.
    package mutating func next() -> Next {
        // First: the disk is to be at work meanwhile. What waits is bounded by what one reading brings.
        if !self.isFetching, !self.isAtEnd, self.wholes.count < self.maximumWholes, self.others.count < self.maximumOthers {
            self.isFetching = true
            return .fetch
        }
        if self.wholesUnderWay < self.maximumWholes, let file = self.wholes.popFirst() {
            self.wholesUnderWay += 1
            return .begin(file)
        }
        if self.othersUnderWay < self.maximumOthers, let file = self.others.popFirst() {
            self.othersUnderWay += 1
            return .begin(file)
        }
        let isIdle = self.wholesUnderWay + self.othersUnderWay == 0 && self.wholes.isEmpty && self.others.isEmpty
        return self.isAtEnd && isIdle && !self.isFetching ? .finish : .wait
    }

    /// - Parameters:
    ///   - wholes: What goes whole.
    ///   - others: What does not.
    ///   - isLast: Whether that was the end of the list.
    package mutating func fetched(wholes: some Sequence<File>, others: some Sequence<File>, isLast: Bool) {
        self.isFetching = false
        guard !self.isAtEnd else { return }  // it was stopped
        self.wholes.append(contentsOf: wholes)
        self.others.append(contentsOf: others)
        self.isAtEnd = isLast
    }

    /// A file that was begun has ended, however it did.
    package mutating func ended(isWhole: Bool) {
        if isWhole { self.wholesUnderWay -= 1 } else { self.othersUnderWay -= 1 }
    }

    /// Begins nothing more. It is finished when what is under way has ended.
    package mutating func stop() {
        self.isAtEnd = true
        self.wholes = []
        self.others = []
    }
}

extension TransferQueue: Sendable where File: Sendable {}

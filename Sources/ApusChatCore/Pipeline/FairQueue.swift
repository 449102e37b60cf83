public import ApusChatStorage
public import DequeModule

/// A queue that serves users in turn, so that the requests of one user delay those of others by at
/// most one turn.
///
/// The numbers of waiting and of running elements of a user are bounded.
///
/// Public and inlinable, although no product contains this module, because the compiler specializes
/// generic code of another module for public types only.
public struct FairQueue<Element: Sendable>: Sendable {
    /// The bounds of a queue.
    @usableFromInline
    package struct Bounds: Sendable {
        /// The maximum number of elements of one user that `next` returned and that are not
        /// finished.
        @usableFromInline package var underWay: Int
        /// The maximum number of waiting elements of one user.
        @usableFromInline package var waitingOfUser: Int
        /// The maximum number of waiting elements.
        @usableFromInline package var waiting: Int

        package init(underWay: Int, waitingOfUser: Int, waiting: Int) {
            self.underWay = underWay
            self.waitingOfUser = waitingOfUser
            self.waiting = waiting
        }
    }

    /// The result of adding an element.
    @usableFromInline
    package enum Admission: Sendable, Equatable {
        case admitted
        /// The user has the maximum number of waiting elements.
        case userFull
        /// The queue has the maximum number of waiting elements.
        case full
    }

    @usableFromInline
    struct Share: Sendable {
        @usableFromInline var waiting = Deque<Element>()
        @usableFromInline var underWay = 0
        /// Whether the rotation contains the user. True if and only if an element of the user may
        /// be taken.
        @usableFromInline var isInRotation = false

        @inlinable
        init() {}
    }

    @usableFromInline let bounds: Bounds
    @usableFromInline var shares: [UserKey: Share] = [:]
    @usableFromInline var rotation = Deque<UserKey>()
    /// The number of waiting elements.
    @usableFromInline package internal(set) var count = 0

    @inlinable
    package init(bounds: Bounds) { self.bounds = bounds }

    /// The number of users with waiting or unfinished elements.
    @inlinable
    package var userCount: Int { self.shares.count }

    @inlinable
    package mutating func enqueue(_ element: Element, for user: UserKey) -> Admission {
        guard self.count < self.bounds.waiting else { return .full }
        guard self.shares[user]?.waiting.count ?? 0 < self.bounds.waitingOfUser else { return .userFull }
        self.shares[user, default: Share()].waiting.append(element)
        self.count += 1
        self.rotate(user)
        return .admitted
    }

    /// Removes and returns the next element; nil if no element waits, or if each user with waiting
    /// elements has the maximum number of running ones.
    @inlinable
    package mutating func next() -> (user: UserKey, element: Element)? {
        guard let user = self.rotation.popFirst() else { return nil }
        guard let element = self.shares[user]?.waiting.popFirst() else { return nil }
        self.shares[user]?.isInRotation = false
        self.shares[user]?.underWay += 1
        self.count -= 1
        self.rotate(user)
        return (user, element)
    }

    /// Records that an element of a user that `next` returned is finished.
    @inlinable
    package mutating func finished(_ user: UserKey) {
        guard let share = self.shares[user], share.underWay > 0 else { return }
        if share.underWay == 1, share.waiting.isEmpty {
            self.shares[user] = nil
        } else {
            self.shares[user]?.underWay -= 1
            self.rotate(user)
        }
    }

    /// Removes and returns all waiting elements, including those of users with the maximum number
    /// of running ones. The elements of one user are in the order in which they were added.
    package mutating func removeAll() -> [Element] {
        var removed: [Element] = []
        for (user, share) in self.shares {
            removed += share.waiting
            var share = share
            share.waiting = []
            share.isInRotation = false
            self.shares[user] = share.underWay > 0 ? share : nil
        }
        self.rotation = []
        self.count = 0
        return removed
    }

    /// Adds a user to the end of the rotation if an element of the user may be taken.
    @inlinable
    mutating func rotate(_ user: UserKey) {
        guard let share = self.shares[user], !share.isInRotation, !share.waiting.isEmpty, share.underWay < self.bounds.underWay
        else { return }
        self.shares[user]?.isInRotation = true
        self.rotation.append(user)
    }
}

extension FairQueue.Bounds {
    /// The bounds for reading requests: at most three of a user run at the same time.
    package static var reads: Self { Self(underWay: 3, waitingOfUser: 64, waiting: 50_000) }
    /// The bounds for commands. A batch can contain any number of commands of a user.
    package static var commands: Self { Self(underWay: .max, waitingOfUser: 1_024, waiting: 50_000) }
}

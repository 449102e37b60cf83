package import ApusChatStorage
import DequeModule

/// A queue that serves users in turn, so that one user's requests never delay those of others by
/// more than one turn.
///
/// A user has a bounded number of waiting elements and a bounded number under way.
package struct FairQueue<Element: Sendable>: Sendable {
    /// The bounds of a queue.
    package struct Bounds: Sendable {
        /// The maximum number of elements of one user that are taken and not finished.
        package var underWay: Int
        /// The maximum number of waiting elements of one user.
        package var waitingOfUser: Int
        /// The maximum number of waiting elements.
        package var waiting: Int

        package init(underWay: Int, waitingOfUser: Int, waiting: Int) {
            self.underWay = underWay
            self.waitingOfUser = waitingOfUser
            self.waiting = waiting
        }
    }

    /// Whether the queue took an element.
    package enum Admission: Sendable, Equatable {
        case admitted
        /// The user has too many waiting elements.
        case userFull
        /// The queue has too many waiting elements.
        case full
    }

    private struct Share {
        var waiting = Deque<Element>()
        var underWay = 0
        /// Whether the rotation holds the user: exactly while an element may be taken.
        var isInRotation = false
    }

    private let bounds: Bounds
    private var shares: [UserKey: Share] = [:]
    private var rotation = Deque<UserKey>()
    /// The number of waiting elements.
    package private(set) var count = 0

    package init(bounds: Bounds) { self.bounds = bounds }

    /// The number of users with waiting or unfinished elements.
    package var userCount: Int { self.shares.count }

    package mutating func enqueue(_ element: Element, for user: UserKey) -> Admission {
        guard self.count < self.bounds.waiting else { return .full }
        guard self.shares[user]?.waiting.count ?? 0 < self.bounds.waitingOfUser else { return .userFull }
        self.shares[user, default: Share()].waiting.append(element)
        self.count += 1
        self.rotate(user)
        return .admitted
    }

    /// Takes the next element. Nil if none waits, or all that wait have too many under way.
    package mutating func next() -> (user: UserKey, element: Element)? {
        guard let user = self.rotation.popFirst() else { return nil }
        guard let element = self.shares[user]?.waiting.popFirst() else { return nil }
        self.shares[user]?.isInRotation = false
        self.shares[user]?.underWay += 1
        self.count -= 1
        self.rotate(user)
        return (user, element)
    }

    /// Ends an element that `next` returned.
    package mutating func finished(_ user: UserKey) {
        guard let share = self.shares[user], share.underWay > 0 else { return }
        if share.underWay == 1, share.waiting.isEmpty {
            self.shares[user] = nil
        } else {
            self.shares[user]?.underWay -= 1
            self.rotate(user)
        }
    }

    /// Puts a user at the end of the rotation if an element of it may be taken.
    private mutating func rotate(_ user: UserKey) {
        guard let share = self.shares[user], !share.isInRotation, !share.waiting.isEmpty, share.underWay < self.bounds.underWay
        else { return }
        self.shares[user]?.isInRotation = true
        self.rotation.append(user)
    }
}

extension FairQueue.Bounds {
    /// The bounds of reading requests: three of a user under way.
    package static var reads: Self { Self(underWay: 3, waitingOfUser: 64, waiting: 50_000) }
    /// The bounds of commands: a batch takes any number of a user, in turn.
    package static var commands: Self { Self(underWay: .max, waitingOfUser: 1_024, waiting: 50_000) }
}

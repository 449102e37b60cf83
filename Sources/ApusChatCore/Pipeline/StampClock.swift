/// Makes the time stamps of events from a clock that may jump.
///
/// Stamps do not decrease. A reading that is more than a second from where the monotonic clock says
/// it must be is not followed: one bad reading moves no stamp by more than a second. A jump of up
/// to a day that lasts is a correction of the clock; it is followed after ten seconds, also
/// backwards. A longer jump is never followed: the stamps continue by the monotonic clock until the
/// clock returns or the program starts again.
///
/// A program that starts more than a day from the last trusted time (the *mark*) follows its clock,
/// but does not trust it for an hour, or until it has returned to the mark.
package struct StampClock: Sendable {
    /// The deviation that is followed at once, in milliseconds.
    package static let tolerance: Int64 = 1_000
    /// The time for which a jump has to last, in milliseconds.
    package static let confirmation: Int64 = 10_000
    /// The longest jump that is followed, and the longest time between two runs of a program after
    /// which its clock is trusted at once, in milliseconds.
    package static let maximumJump: Int64 = 86_400_000
    /// The time for which the clock of a new run is not trusted after a longer time, in
    /// milliseconds.
    package static let probationTime: Int64 = 3_600_000

    /// A moment, and whether ages may be judged by it.
    package struct Reading: Sendable, Equatable {
        /// Milliseconds since 1970.
        package var time: Int64
        /// False while the clock is not where it is expected. Then nothing may be deleted, sent or
        /// ended because of its age.
        package var isTrusted: Bool

        package init(time: Int64, isTrusted: Bool) {
            self.time = time
            self.isTrusted = isTrusted
        }
    }

    private var anchor: (wall: Int64, monotonic: Int64)
    private var last: Int64
    private var jump: (distance: Int64, since: Int64)?
    /// The mark of an earlier run, and when the probation of this run began on the monotonic clock.
    private var probation: (mark: Int64, since: Int64)?

    /// - Parameters:
    ///   - wall: Milliseconds since 1970, as the clock says.
    ///   - monotonic: Milliseconds of a clock that never jumps.
    ///   - mark: The last trusted time of an earlier run; nil for the first one.
    package init(wall: Int64, monotonic: Int64, mark: Int64? = nil) {
        self.anchor = (wall, monotonic)
        self.last = wall
        if let mark, !Self.follows(wall, mark: mark) { self.probation = (mark, monotonic) }
    }

    /// Whether the clock is where it is expected. While it is not, nothing may be deleted because
    /// of its age.
    package var isTrusted: Bool { self.jump == nil && self.probation == nil }

    /// Whether the clock has made a jump that lasts and is not followed.
    package var hasLeapt: Bool {
        guard let jump = self.jump else { return false }
        return jump.distance.magnitude > Self.maximumJump.magnitude
    }

    /// Returns the stamp for a moment, and whether it is trusted.
    package mutating func read(wall: Int64, monotonic: Int64) -> Reading {
        let time = self.stamp(wall: wall, monotonic: monotonic)
        return Reading(time: time, isTrusted: self.isTrusted)
    }

    /// Returns the stamp for a moment.
    package mutating func stamp(wall: Int64, monotonic: Int64) -> Int64 {
        if let probation = self.probation, monotonic.elapsed(since: probation.since) >= Self.probationTime { self.probation = nil }
        let (expected, isTooLate) = self.anchor.wall.addingReportingOverflow(monotonic.elapsed(since: self.anchor.monotonic))
        let (distance, isOverflown) = wall.subtractingReportingOverflow(expected)
        guard !isTooLate, !isOverflown else { return self.advance(to: self.last) }
        if distance.magnitude <= Self.tolerance.magnitude {
            self.anchor = (wall, monotonic)
            self.jump = nil
            return self.advance(to: wall)
        }
        guard let jump = self.jump, (distance &- jump.distance).magnitude <= Self.tolerance.magnitude else {
            self.jump = (distance, monotonic)
            return self.advance(to: expected)
        }
        let returns = self.probation.map { Self.follows(wall, mark: $0.mark) } ?? false
        guard returns || distance.magnitude <= Self.maximumJump.magnitude, monotonic.elapsed(since: jump.since) >= Self.confirmation else {
            return self.advance(to: expected)
        }
        if returns { self.probation = nil }
        self.anchor = (wall, monotonic)
        self.jump = nil
        self.last = wall
        return wall
    }

    /// Whether a time is that of a program that started at most a day after its last run.
    private static func follows(_ wall: Int64, mark: Int64) -> Bool {
        (-Self.tolerance...Self.maximumJump).contains(wall.subtractingSaturated(mark))
    }

    private mutating func advance(to stamp: Int64) -> Int64 {
        self.last = max(self.last, stamp)
        return self.last
    }
}

extension Int64 {
    /// The difference, or the end of the range that it exceeds.
    fileprivate func subtractingSaturated(_ other: Int64) -> Int64 {
        let (difference, isOverflown) = self.subtractingReportingOverflow(other)
        guard isOverflown else { return difference }
        return self < 0 ? .min : .max
    }
}

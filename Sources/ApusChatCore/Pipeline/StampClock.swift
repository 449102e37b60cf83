/// Produces the time stamps of events from a wall clock that may jump.
///
/// Stamps decrease only when they follow a backward correction. The clock predicts the wall time
/// from the monotonic clock. A reading that differs from the prediction by more than a second is
/// not used, so that a single wrong reading changes no stamp by more than a second. If the
/// difference persists for ten seconds and is at most a day, it is treated as a forward or backward
/// correction of the wall clock, and the stamps follow it. A larger jump is never followed: the
/// stamps follow the monotonic clock until the wall clock agrees with the prediction again or the
/// program restarts.
///
/// A program that starts more than a day after or before the last trusted time (the *mark*) follows
/// its wall clock. It does not trust the clock for an hour, or until the clock has returned to the
/// mark.
package struct StampClock: Sendable {
    /// The deviation from the prediction that is followed immediately, in milliseconds.
    package static let tolerance: Int64 = 1_000
    /// The time for which a deviation must persist before it is followed, in milliseconds.
    package static let confirmation: Int64 = 10_000
    /// The largest deviation that is followed, and the longest time between two runs of the program
    /// after which the clock is trusted immediately, in milliseconds.
    package static let maximumJump: Int64 = 86_400_000
    /// The time for which the clock is not trusted after a longer time between two runs, in
    /// milliseconds.
    package static let probationTime: Int64 = 3_600_000

    /// A time, and whether the age of data may be computed from it.
    package struct Reading: Sendable, Equatable {
        /// Milliseconds since 1970.
        package var time: Int64
        /// False while the wall clock differs from the prediction, or is on probation after a
        /// start. Data must then not be deleted, sent or ended because of its age.
        package var isTrusted: Bool

        package init(time: Int64, isTrusted: Bool) {
            self.time = time
            self.isTrusted = isTrusted
        }
    }

    private var anchor: (wall: Int64, monotonic: Int64)
    private var last: Int64
    private var jump: (distance: Int64, since: Int64, isPersistent: Bool)?
    /// The last trusted time of an earlier run, and the monotonic time at which the probation of
    /// this run began; nil if the clock is not on probation.
    private var probation: (mark: Int64, since: Int64)?

    /// - Parameters:
    ///   - wall: The time of the wall clock, in milliseconds since 1970.
    ///   - monotonic: Milliseconds of a monotonic clock.
    ///   - mark: The last trusted time of an earlier run; nil for the first one.
    package init(wall: Int64, monotonic: Int64, mark: Int64? = nil) {
        self.anchor = (wall, monotonic)
        self.last = wall
        if let mark, !Self.follows(wall, mark: mark) { self.probation = (mark, monotonic) }
    }

    /// Whether the wall clock is trusted. If not, no data may be deleted because of its age.
    package var isTrusted: Bool { self.jump == nil && self.probation == nil }

    /// Whether the wall clock has made a persistent jump that is too large to be followed.
    package var hasLeapt: Bool {
        guard let jump = self.jump else { return false }
        return jump.isPersistent && jump.distance.magnitude > Self.maximumJump.magnitude
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
        guard let jump = self.jump, distance.subtractingSaturated(jump.distance).magnitude <= Self.tolerance.magnitude else {
            self.jump = (distance, monotonic, false)
            return self.advance(to: expected)
        }
        let isPersistent = monotonic.elapsed(since: jump.since) >= Self.confirmation
        self.jump?.isPersistent = isPersistent
        let returns = self.probation.map { Self.follows(wall, mark: $0.mark) } ?? false
        guard isPersistent, returns || distance.magnitude <= Self.maximumJump.magnitude else { return self.advance(to: expected) }
        if returns { self.probation = nil }
        self.anchor = (wall, monotonic)
        self.jump = nil
        self.last = wall
        return wall
    }

    /// Returns whether a time is plausible for a program that started at most a day after its last
    /// run.
    private static func follows(_ wall: Int64, mark: Int64) -> Bool {
        (-Self.tolerance...Self.maximumJump).contains(wall.subtractingSaturated(mark))
    }

    private mutating func advance(to stamp: Int64) -> Int64 {
        self.last = max(self.last, stamp)
        return self.last
    }
}

extension Int64 {
    /// Returns the difference, clamped to the range of `Int64`.
    fileprivate func subtractingSaturated(_ other: Int64) -> Int64 {
        let (difference, isOverflown) = self.subtractingReportingOverflow(other)
        guard isOverflown else { return difference }
        return self < 0 ? .min : .max
    }
}

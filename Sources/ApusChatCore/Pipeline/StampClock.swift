/// Makes the time stamps of events from a clock that may jump.
///
/// Stamps do not decrease. A reading that is more than a second from where the monotonic clock says
/// it must be is not followed: one bad reading moves no stamp by more than a second. A jump that
/// lasts is a correction of the clock; it is followed after ten seconds, also backwards.
package struct StampClock: Sendable {
    /// The deviation that is followed at once, in milliseconds.
    package static let tolerance: Int64 = 1_000
    /// The time for which a jump has to last, in milliseconds.
    package static let confirmation: Int64 = 10_000

    private var anchor: (wall: Int64, monotonic: Int64)
    private var last: Int64
    private var jump: (distance: Int64, since: Int64)?

    /// - Parameters:
    ///   - wall: Milliseconds since 1970, as the clock says.
    ///   - monotonic: Milliseconds of a clock that never jumps.
    package init(wall: Int64, monotonic: Int64) {
        self.anchor = (wall, monotonic)
        self.last = wall
    }

    /// Whether the clock is where it is expected. While it is not, nothing may be deleted because
    /// of its age.
    package var isTrusted: Bool { self.jump == nil }

    /// Returns the stamp for a moment.
    package mutating func stamp(wall: Int64, monotonic: Int64) -> Int64 {
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
        guard monotonic.elapsed(since: jump.since) >= Self.confirmation else { return self.advance(to: expected) }
        self.anchor = (wall, monotonic)
        self.jump = nil
        self.last = wall
        return wall
    }

    private mutating func advance(to stamp: Int64) -> Int64 {
        self.last = max(self.last, stamp)
        return self.last
    }
}

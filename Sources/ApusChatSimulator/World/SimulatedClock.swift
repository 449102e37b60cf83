/// The two clocks of the server's machine. The wall clock can jump; the monotonic clock cannot.
final class SimulatedClock {
    /// The time since the run began, in milliseconds.
    private(set) var monotonic: Int64 = 0
    /// The difference between the wall clock and the monotonic clock, in milliseconds.
    private var offset: Int64 = 1_700_000_000_000

    var wall: Int64 { self.offset + self.monotonic }

    /// The wall clock of the devices, which never jumps.
    var device: Int64 { 1_700_000_000_000 + self.monotonic }

    func advance(_ milliseconds: Int64) { self.monotonic += milliseconds }

    func jump(_ milliseconds: Int64) { self.offset += milliseconds }
}

/// The two clocks of the server's machine. The wall clock may jump; the other one never does.
final class SimulatedClock {
    /// Milliseconds since the run began.
    private(set) var monotonic: Int64 = 0
    /// What the wall clock says more than the monotonic one.
    private var offset: Int64 = 1_700_000_000_000

    var wall: Int64 { self.offset + self.monotonic }

    /// The clock of the devices, which never jumps.
    var device: Int64 { 1_700_000_000_000 + self.monotonic }

    func advance(_ milliseconds: Int64) { self.monotonic += milliseconds }

    func jump(_ milliseconds: Int64) { self.offset += milliseconds }
}

import Foundation

/// Sets the terminal of standard input to a mode without line buffering and echo, and restores it.
///
/// The mode is a property of the terminal and persists after the process has ended. It is restored
/// by ``leave()``, by `exit`, and by every handled signal that ends the process, including those
/// for faults. The signal handlers call only async-signal-safe functions. Their state is set once,
/// before they are installed.
enum RawTerminal {
    /// The mode to restore; `nil` before ``begin(leaving:)``.
    nonisolated(unsafe) private static var original: UnsafeMutablePointer<termios>?
    /// The control sequence that restores the screen. It is written before the mode is restored.
    nonisolated(unsafe) private static var leaveSequence: UnsafeMutableBufferPointer<UInt8>?
    /// A pipe that passes signal numbers to the thread that reads the terminal.
    nonisolated(unsafe) private static var signals: (read: Int32, write: Int32) = (-1, -1)

    /// Sets the mode, and installs handlers that restore it at signals and at `exit`. Call this
    /// method once.
    ///
    /// - Parameter sequence: The control sequence that restores the screen; empty if only the mode
    ///   is changed.
    /// - Returns: A descriptor from which the numbers of SIGWINCH, SIGCONT and SIGTSTP are read,
    ///   one byte each; `nil` if standard input is not a terminal, or if this is not the first
    ///   call.
    static func begin(leaving sequence: String = "") -> Int32? {
        let mode = UnsafeMutablePointer<termios>.allocate(capacity: 1)  // not released until the process ends
        mode.initialize(to: termios())
        var ends: [Int32] = [-1, -1]
        guard self.original == nil, tcgetattr(STDIN_FILENO, mode) == 0, pipe(&ends) == 0 else {
            mode.deallocate()
            return nil
        }
        for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
        _ = fcntl(ends[1], F_SETFL, O_NONBLOCK)
        if !sequence.isEmpty {
            let bytes = UnsafeMutableBufferPointer<UInt8>.allocate(capacity: sequence.utf8.count)
            _ = bytes.initialize(from: sequence.utf8)
            self.leaveSequence = bytes
        }
        self.original = mode
        self.signals = (ends[0], ends[1])
        atexit { RawTerminal.leave() }
        for number in [SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGILL, SIGTRAP, SIGABRT, SIGBUS, SIGFPE, SIGSEGV] {
            signal(number) { number in
                RawTerminal.leave()
                signal(number, SIG_DFL)
                raise(number)
            }
        }
        for number in [SIGWINCH, SIGCONT, SIGTSTP] { signal(number) { RawTerminal.pass($0) } }
        self.enter()
        return ends[0]
    }

    /// Sets the mode of the terminal. Output is still processed: a line feed also moves the cursor
    /// to the first column. Has no effect if the process is in the background.
    static func enter() {
        // Setting the mode would stop a process in the background.
        guard let original = self.original, tcgetpgrp(STDIN_FILENO) == getpgrp() else { return }
        var mode = original.pointee
        mode.c_lflag &= ~tcflag_t(ICANON | ECHO | ISIG | IEXTEN)
        mode.c_iflag &= ~tcflag_t(IXON | ICRNL)
        withUnsafeMutableBytes(of: &mode.c_cc) { characters in
            characters[Int(VMIN)] = 1
            characters[Int(VTIME)] = 0
        }
        tcsetattr(STDIN_FILENO, TCSADRAIN, &mode)
    }

    /// Restores the screen and the mode.
    static func leave() {
        guard let original = self.original, tcgetpgrp(STDIN_FILENO) == getpgrp() else { return }
        if let leaveSequence = self.leaveSequence { _ = write(STDOUT_FILENO, leaveSequence.baseAddress, leaveSequence.count) }
        tcsetattr(STDIN_FILENO, TCSANOW, original)
    }

    /// Stops the process group, as Ctrl-Z does at a terminal in its normal mode. Returns when the
    /// process is continued.
    static func suspend() {
        self.leave()
        signal(SIGTSTP, SIG_DFL)
        kill(0, SIGTSTP)
        // Another thread may receive the signal. The system does not stop an orphaned process
        // group, which nothing could continue.
        var descriptor = pollfd(fd: self.signals.read, events: Int16(POLLIN), revents: 0)
        poll(&descriptor, 1, 200)
        signal(SIGTSTP) { RawTerminal.pass($0) }
        self.enter()
    }

    private static func pass(_ number: Int32) {
        let before = errno
        var byte = UInt8(truncatingIfNeeded: number)
        _ = write(self.signals.write, &byte, 1)
        errno = before
    }

    /// The terminal's width in columns.
    static var columns: Int { self.size.columns }

    /// The terminal's width and height in characters.
    static var size: (columns: Int, rows: Int) {
        var size = winsize()
        guard ioctl(STDOUT_FILENO, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0, size.ws_row > 0 else { return (80, 24) }
        return (Int(size.ws_col), Int(size.ws_row))
    }
}

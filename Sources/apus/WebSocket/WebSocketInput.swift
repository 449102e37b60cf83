import Dispatch
import Foundation

/// The lines of standard input as they come, read on a thread of its own: reading a terminal blocks.
///
/// A few lines are read ahead and no more, so that a large file in a pipe is not read into memory.
struct WebSocketInput: Sendable {
    let lines: AsyncStream<String>
    private let room: DispatchSemaphore

    init() {
        // Raised from zero: libdispatch traps when a semaphore goes with a value below its first.
        let room = DispatchSemaphore(value: 0)
        for _ in 0..<64 { room.signal() }
        let (lines, continuation) = AsyncStream.makeStream(of: String.self)
        Thread.detachNewThread {
            // It ends with the process when nobody types.
            while true {
                room.wait()
                guard let line = readLine(strippingNewline: true) else { break }
                continuation.yield(line)
            }
            continuation.finish()
        }
        self.room = room
        self.lines = lines
    }

    /// To be called for each line, once it is dealt with.
    func consumed() { self.room.signal() }
}

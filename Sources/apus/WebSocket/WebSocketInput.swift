import Dispatch
import Foundation

/// Reads the lines of standard input on a separate thread, because reading blocks.
///
/// It reads at most 64 lines in advance, so that a large file in a pipe is not read into memory.
struct WebSocketInput: Sendable {
    let lines: AsyncStream<String>
    private let room: DispatchSemaphore

    init() {
        // Create the semaphore with zero and increment it: libdispatch traps if a semaphore is
        // deallocated with a value below its initial value.
        let room = DispatchSemaphore(value: 0)
        for _ in 0..<64 { room.signal() }
        let (lines, continuation) = AsyncStream.makeStream(of: String.self)
        Thread.detachNewThread {
            // Without input, the thread ends with the process.
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

    /// Permits the thread to read another line. Call it once for each processed line.
    func consumed() { self.room.signal() }
}

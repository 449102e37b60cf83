import ApusSocketIOServer
import DequeModule
import NIOConcurrencyHelpers

/// Serializes the requests of one socket whose answers may be large. The next one starts when the
/// client has read the previous answer.
///
/// The server therefore holds one such answer for each socket, regardless of the number of requests
/// and of whether the client reads. The socket's permits bound the number of waiting requests.
final class LargeResponseQueue: Sendable {
    typealias Job = @Sendable () -> Void

    private struct State: Sendable {
        var isBusy = false
        var waiting: Deque<Job> = []
    }

    private let state = NIOLockedValueBox(State())
    /// Calls its argument when the socket's outgoing queue is short.
    private let whenDrained: @Sendable (@escaping Job) -> Void

    init(whenDrained: @escaping @Sendable (@escaping Job) -> Void) { self.whenDrained = whenDrained }

    convenience init(_ socket: SocketIOServerSocket) { self.init { socket.whenDrained($0) } }

    /// Runs a job immediately, or after the jobs submitted before. Each job calls ``answered()``
    /// once, after its answer is sent.
    func submit(_ job: @escaping Job) {
        let isFree = self.state.withLockedValue { state in
            guard state.isBusy else {
                state.isBusy = true
                return true
            }
            state.waiting.append(job)
            return false
        }
        if isFree { job() }
    }

    func answered() { self.whenDrained { self.proceed() } }

    private func proceed() {
        let next = self.state.withLockedValue { state in
            let next = state.waiting.popFirst()
            state.isBusy = next != nil
            return next
        }
        next?()
    }
}

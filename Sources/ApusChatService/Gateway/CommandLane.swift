import DequeModule
import NIOConcurrencyHelpers
import NIOCore

/// Submits the changes of one connection in the order of their arrival, although some of them
/// require a read first.
final class CommandLane: Sendable {
    /// Prepares and submits one change. Calls `next` once, on any thread.
    typealias Step = @Sendable (_ next: @escaping @Sendable () -> Void) -> Void

    private struct State {
        var waiting = Deque<Step>()
        var isBusy = false
    }

    /// The event loop on which the answers are delivered; nil for any thread.
    let eventLoop: (any EventLoop)?
    private let state = NIOLockedValueBox(State())

    init(answeringOn eventLoop: (any EventLoop)? = nil) { self.eventLoop = eventLoop }

    func run(_ step: @escaping Step) {
        let isFirst = self.state.withLockedValue { state in
            guard state.isBusy else {
                state.isBusy = true
                return true
            }
            state.waiting.append(step)
            return false
        }
        if isFirst { self.perform(step) }
    }

    private func perform(_ step: Step) {
        step {
            let next = self.state.withLockedValue { state -> Step? in
                let next = state.waiting.popFirst()
                state.isBusy = next != nil
                return next
            }
            // The depth of the recursion is at most the number of pending requests of a connection.
            if let next { self.perform(next) }
        }
    }
}

@testable import ApusWebSocket
import ApusWebSocketProtocol
import Dispatch
import NIOConcurrencyHelpers
import NIOCore
import NIOEmbedded
import Testing

/// Listeners and sequences, on an event loop that can be blocked. No attempt succeeds, as the URL
/// is invalid.
@Suite(.timeLimit(.minutes(5))) struct WebSocketSessionListeningTests {
    private let loop = NIOAsyncTestingEventLoop()

    private func session(receivedMessages: Int = 64) -> WebSocketSession {
        var configuration = WebSocketSessionConfiguration()
        configuration.watchesNetwork = false
        configuration.client.flow.receivedMessages = receivedMessages
        return WebSocketSession("nowhere", configuration: configuration, on: self.loop)
    }

    /// Runs `body` while the loop is blocked, so that its tasks for the loop run later.
    private func holdingTheLoop(_ body: @escaping @Sendable () -> Void) {
        let isDone = DispatchSemaphore(value: 0)
        DispatchQueue.global().async {
            body()
            isDone.signal()
        }
        isDone.wait()
    }

    private func receive(_ count: Int, _ core: WebSocketSessionCore) {
        for _ in 1...count { _ = core.subscribers.received("a") }
    }

    @Test(arguments: [true, false]) func aListenerCancelsInTheCallThatDeliversKeptMessages(isDirect: Bool) async throws {
        let session = self.session()
        let (core, heard, place) = (session.core, NIOLockedValueBox(0), NIOLockedValueBox<WebSocketListening?>(nil))
        try await self.loop.executeInContext {
            self.receive(3, core.value)
            self.holdingTheLoop {
                let listening = session.listen(on: isDirect ? .eventLoop : .executor { $0() }) { _ in
                    heard.withLockedValue { $0 += 1 }
                    place.withLockedValue { $0 }?.cancel()
                }
                place.withLockedValue { $0 = listening }
            }
        }
        #expect(try await self.loop.executeInContext { core.value.subscribers.isEmpty })
        #expect(heard.withLockedValue { $0 } == 1)
    }

    /// The listener is full with its only event, and is cancelled while it receives the event.
    @Test func aCancelledListenerIsNotAwaited() async throws {
        let session = self.session(receivedMessages: 1)
        let (core, place) = (session.core, NIOLockedValueBox<WebSocketListening?>(nil))
        let listening = session.listen(on: .executor { $0() }) { event in
            if case .message = event { place.withLockedValue { $0 }?.cancel() }
        }
        place.withLockedValue { $0 = listening }
        #expect(
            try await self.loop.executeInContext {
                self.receive(1, core.value)
                return core.value.subscribers.isEmpty && !core.value.subscribers.isFull
            })
    }

    @Test func afterCancelNoCallBegins() async throws {
        let session = self.session()
        let (core, heard) = (session.core, NIOLockedValueBox(0))
        let listening = session.listen(on: .eventLoop) { event in
            if case .message = event { heard.withLockedValue { $0 += 1 } }
        }
        try await self.loop.executeInContext {
            self.receive(1, core.value)
            self.holdingTheLoop { listening.cancel() }
            self.receive(1, core.value)
        }
        #expect(heard.withLockedValue { $0 } == 1)
    }

    /// Cancels once more when it is released, as an object that cancels its own listening does.
    private final class CancelsOnDeinit: Sendable {
        let listening = NIOLockedValueBox<WebSocketListening?>(nil)
        deinit { self.listening.withLockedValue { $0.take() }?.cancel() }
    }

    private func listen(_ session: WebSocketSession, on context: WebSocketListenerContext) -> WebSocketListening {
        let canceller = CancelsOnDeinit()
        let listening = session.listen(on: context) { _ in withExtendedLifetime(canceller) {} }
        canceller.listening.withLockedValue { $0 = listening }
        return listening
    }

    @Test(arguments: [true, false]) func capturesOfAListenerMayCancelWhenReleased(isDirect: Bool) async throws {
        let context: WebSocketListenerContext = isDirect ? .eventLoop : .executor { $0() }
        var session: WebSocketSession? = self.session()
        let core = try #require(session).core
        let first = self.listen(try #require(session), on: context)
        _ = self.listen(try #require(session), on: context)
        try await self.loop.executeInContext { first.cancel() }
        #expect(try await self.loop.executeInContext { !core.value.subscribers.isEmpty })
        session = nil
        #expect(try await self.loop.executeInContext { core.value.subscribers.isEmpty })
    }

    // MARK: Queues that fill up again

    @Test func aListenerThatIsFullAgainStopsTheReading() async throws {
        let session = self.session(receivedMessages: 4)
        let (core, works) = (session.core, NIOLockedValueBox<[@Sendable () -> Void]>([]))
        let work = { @Sendable in
            for work in works.withLockedValue({ works in
                defer { works = [] }
                return works
            }) { work() }
        }
        session.listen(on: .executor { work in works.withLockedValue { $0.append(work) } }) { _ in }
        let isFull = try await self.loop.executeInContext {
            work()  // the failure of the attempt
            self.receive(4, core.value)
            let isFull = core.value.subscribers.isFull
            work()  // schedules the report of room on the loop
            self.receive(4, core.value)
            return isFull
        }
        #expect(isFull)
        await self.loop.run()
        #expect(try await self.loop.executeInContext { core.value.subscribers.isFull })
        work()
        #expect(try await self.loop.executeInContext { !core.value.subscribers.isFull })
    }

    @Test func aSequenceThatIsFullAgainStopsTheReading() async throws {
        let session = self.session(receivedMessages: 4)
        let (core, messages) = (session.core, session.messages)
        session.lifetime.snapshot.withLockedValue { $0.state = .open }  // prevents an attempt
        @Sendable func take(_ count: Int) async throws {
            var iterator = messages.makeAsyncIterator()
            for _ in 1...count { _ = try await iterator.next() }
        }
        let isFull = try await self.loop.executeInContext {
            self.receive(4, core.value)
            let isFull = core.value.subscribers.isFull
            self.holdingTheLoop {
                let isDone = DispatchSemaphore(value: 0)
                Task {
                    try await take(2)
                    isDone.signal()
                }
                isDone.wait()
            }
            self.receive(2, core.value)
            return isFull
        }
        #expect(isFull)
        #expect(try await self.loop.executeInContext { core.value.subscribers.isFull })
        try await take(4)
        #expect(try await self.loop.executeInContext { !core.value.subscribers.isFull })
    }
}

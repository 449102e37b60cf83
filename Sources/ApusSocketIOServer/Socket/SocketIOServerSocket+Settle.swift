import NIOCore

extension SocketIOServerSocket {
    /// Succeeds when the handlers at work are done and no client waits for an ack of ours, at the latest when the socket is gone. Whoever waits
    /// keeps the time.
    func settle() -> EventLoopFuture<Void> {
        self.eventLoop.assertInEventLoop()
        let handlersDone = self.eventLoop.makePromise(of: Void.self)
        // The queue works in order: when it comes to this, what was before is done.
        if self.asyncQueue?.enqueue(bytes: 0, { handlersDone.succeed() }) != .taken { handlersDone.succeed() }
        return handlersDone.futureResult.flatMap {
            guard case .open = self.state, self.owedAcks > 0 else { return self.eventLoop.makeSucceededVoidFuture() }
            let acksSent = self.eventLoop.makePromise(of: Void.self)
            self.makeExtras().settleWaiters.append(acksSent)
            return acksSent.futureResult
        }
    }
}

import NIOCore

extension SocketIOServerSocket {
    /// Succeeds when the running handlers are done and no client waits for an ack from this server,
    /// at the latest when the socket closes. Callers set their own deadline.
    func settle() -> EventLoopFuture<Void> {
        self.eventLoop.assertInEventLoop()
        let handlersDone = self.eventLoop.makePromise(of: Void.self)
        // The queue works in order: when this item runs, all earlier ones are done.
        if self.asyncQueue?.enqueue(bytes: 0, { handlersDone.succeed() }) != .taken { handlersDone.succeed() }
        return handlersDone.futureResult.flatMap {
            guard case .open = self.state, self.owedAcks > 0 else { return self.eventLoop.makeSucceededVoidFuture() }
            let acksSent = self.eventLoop.makePromise(of: Void.self)
            self.makeExtras().settleWaiters.append(acksSent)
            return acksSent.futureResult
        }
    }
}

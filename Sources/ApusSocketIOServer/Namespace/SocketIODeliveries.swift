import ApusEngineIOServer
package import ApusSocketIOProtocol
package import NIOCore

/// Events for sockets of this server, and additional work, that run in one task per event loop. A
/// connection thus sends its events in one write.
package struct SocketIODeliveries: Sendable {
    private struct Group: Sendable {
        let eventLoop: any EventLoop
        var work: [@Sendable () -> Void] = []
        var events: [(socket: SocketIOServerSocket, outbound: SocketIOOutbound)] = []
    }

    /// One group per event loop. A process has few event loops.
    private var groups: [Group] = []
    /// The number of deliveries that were added and not sent. One delivery is one event for one
    /// socket.
    package private(set) var count = 0

    package init() {}

    /// Adds work for an event loop. It runs before the events are sent.
    package mutating func add(on eventLoop: any EventLoop, _ work: @escaping @Sendable () -> Void) {
        self.groups[self.group(on: eventLoop)].work.append(work)
    }

    /// Adds an event for distinct sockets of one namespace. Encodes the event once. Sockets that
    /// are not writable receive it later.
    package mutating func add(_ event: String, payload: SocketIOPayload, to sockets: some Sequence<SocketIOServerSocket>) {
        var outbound: SocketIOOutbound?
        for socket in sockets {
            guard let encoded = outbound ?? socket.namespace.outbound(event, payload) else { return }
            outbound = encoded
            self.groups[self.group(on: socket.eventLoop)].events.append((socket, encoded))
            self.count += 1
        }
    }

    /// Sends the added events and runs the added work, and removes both.
    package mutating func send() {
        for index in self.groups.indices {
            let (work, events) = (self.groups[index].work, self.groups[index].events)
            guard !work.isEmpty || !events.isEmpty else { continue }
            self.groups[index].work = []
            self.groups[index].events = []
            let body: @Sendable () -> Void = {
                for each in work { each() }
                for event in events { event.socket.deliver(event.outbound, isVolatile: false) }
            }
            if let session = events.first?.socket.session {
                session.runOnLoop(delivering: events.count, body)
            } else {
                self.groups[index].eventLoop.execute(body)
            }
        }
        self.count = 0
    }

    private mutating func group(on eventLoop: any EventLoop) -> Int {
        if let known = self.groups.firstIndex(where: { $0.eventLoop === eventLoop }) { return known }
        self.groups.append(Group(eventLoop: eventLoop))
        return self.groups.count - 1
    }
}

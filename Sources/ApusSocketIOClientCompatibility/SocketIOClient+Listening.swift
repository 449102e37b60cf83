import ApusJSON
public import ApusSocketIOClient
import ApusSocketIOProtocol

/// The ack of an event, with the name of socket.io-client-swift.
public typealias SocketAckEmitter = SocketIOClientAck

/// A kind of lifecycle event, with the name of socket.io-client-swift.
public typealias SocketClientEvent = SocketIOClientLifecycleEvent.Kind

/// A listener with the values and the ack of an event, with the name of socket.io-client-swift.
public typealias NormalCallback = SocketIOClientHandler

extension SocketIOClient {
    /// Listens to one kind of lifecycle event.
    ///
    /// The data is the id (`connect`), the reason (`disconnect`), the message (`error`,
    /// `upgradeError`), the number of the attempt (`reconnectAttempt`), the number of attempts
    /// (`reconnect`), the name of the state (`statusChange`) or the latency in seconds, if it is
    /// known (`pong`). Other events have no data. The ack is never expected.
    ///
    /// - Parameters:
    ///   - kind: The kind of event.
    ///   - callback: The closure to call with each event of this kind.
    @discardableResult
    public func on(clientEvent kind: SocketClientEvent, callback: @escaping NormalCallback) -> SocketIOClientListener {
        self.on(clientEvent: kind) { (event: SocketIOClientLifecycleEvent) in callback(event.data, .none) }
    }

    /// Removes a listener.
    public func off(id: SocketIOClientListener) { self.off(id) }
}

extension SocketIOClientLifecycleEvent {
    /// The data that a listener receives.
    fileprivate var data: [SocketIOValue] {
        switch self {
        case .connect(let id): [.string(id)]
        case .disconnect(let reason): [.string(reason.description)]
        case .error(let error), .upgradeError(let error): [.string(error.message)]
        case .reconnectAttempt(let number): [.integer(Int64(number))]
        case .reconnect(let attempts): [.integer(Int64(attempts))]
        case .statusChange(let state): [.string("\(state)")]
        case .pong(let latency?): [.double(latency / .seconds(1))]
        case .reconnectFailed, .ping, .pong(nil), .upgrade: []
        }
    }
}

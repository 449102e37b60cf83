/// How an event travels, whoever it is for.
struct SocketIOEmitFlags: Hashable, Sendable {
    /// Lost for a client that is not ready to receive it now.
    var isVolatile = false
    /// Whether a transport that compresses may compress it. It is the application that knows a photograph from a text.
    var isCompressed = true
    /// Only for the sockets of this server, whoever else is in the cluster.
    var isLocal = false
    /// How long acks are waited for; `nil` leaves it to the call that waits.
    var timeout: Duration?
}

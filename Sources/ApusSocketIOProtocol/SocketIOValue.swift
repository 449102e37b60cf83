public import ApusJSON

/// A value in a Socket.IO event: JSON, with binary data anywhere in it.
public typealias SocketIOValue = JSONValue

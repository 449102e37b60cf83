public import ApusJSON

/// A value in a Socket.IO event: JSON, and binary data anywhere in it.
public typealias SocketIOValue = JSONValue

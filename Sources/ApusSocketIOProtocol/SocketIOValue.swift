public import ApusJSON

/// A value in a Socket.IO event: a JSON value that may contain binary data at any depth.
public typealias SocketIOValue = JSONValue

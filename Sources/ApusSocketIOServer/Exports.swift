// One import for users: the types of the signatures come along, and their members (`.object`, `.ackTimeout`) with them. The configuration of a
// Socket.IO server has all fields of its engine's.
@_exported public import ApusEngineIOServer
@_exported public import ApusJSON
@_exported public import ApusSocketIOProtocol

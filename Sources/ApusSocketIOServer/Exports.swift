// The configuration of a Socket.IO server has all fields of its engine's.
@_exported public import ApusEngineIOServer

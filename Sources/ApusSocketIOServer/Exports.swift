// Users need one import: the types in the public signatures are exported with their members
// (`.object`, `.ackTimeout`). The configuration has all fields of the Engine.IO server's.
@_exported public import ApusEngineIOServer
@_exported public import ApusJSON
@_exported public import ApusSocketIOProtocol

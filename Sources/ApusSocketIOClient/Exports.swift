// One import for users: the types of the signatures come along, and their members (`.polling`, `.ackTimeout`, `.object`) with them.
@_exported public import ApusConnectivity
@_exported public import ApusEngineIOClient
@_exported public import ApusEngineIOProtocol
@_exported public import ApusJSON
@_exported public import ApusSocketIOProtocol

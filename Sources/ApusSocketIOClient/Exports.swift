// Re-exports the modules of the public signatures, so that users need a single import.
@_exported public import ApusConnectivity
@_exported public import ApusEngineIOClient
@_exported public import ApusEngineIOProtocol
@_exported public import ApusJSON
@_exported public import ApusSocketIOProtocol

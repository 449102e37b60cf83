// What the configuration speaks of: transports and errors; origins, compression and close codes.
@_exported public import ApusEngineIOProtocol
@_exported public import ApusWebSocket

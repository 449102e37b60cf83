// The types of the configuration: transports and errors; origins, compression and close codes.
@_exported public import ApusEngineIOProtocol
@_exported public import ApusWebSocket

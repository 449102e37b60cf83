// What the public API speaks of: messages, limits, close codes and errors; policies and TLS settings.
@_exported public import ApusConnectivity
@_exported public import ApusWebSocketProtocol

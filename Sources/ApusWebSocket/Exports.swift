// The types used in the public API: messages, limits, close codes, errors, policies and TLS
// settings.
@_exported public import ApusConnectivity
@_exported public import ApusWebSocketProtocol

// The types of the public API: framings, limits and errors; JSON headers; policies and TLS
// settings.
@_exported public import ApusConnectivity
@_exported public import ApusFramedProtocol
@_exported public import ApusJSON

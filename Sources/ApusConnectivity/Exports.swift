// The types of the public API: reconnection policies and retry decisions.
@_exported public import ApusEventLoop

package import HTTPTypes

extension WebSocketHandshake {
    /// Judges how many header fields there are and how large.
    ///
    /// The parser below has bounds of its own (NIO: 256 fields, 80 KiB a field, 2 MiB in all); these are the connection's.
    ///
    /// - Throws: ``WebSocketError/Code/headersTooLarge``.
    package static func judge(_ fields: HTTPFields, limits: WebSocketLimits) throws(WebSocketError) {
        guard fields.count <= limits.maximumHeaderFields else {
            throw WebSocketError(
                .headersTooLarge, message: "\(fields.count) header fields, \(limits.maximumHeaderFields) allowed")
        }
        var bytes = 0
        for field in fields {
            bytes += field.name.rawName.utf8.count + field.value.utf8.count
        }
        guard bytes <= limits.maximumHeaderBytes else {
            throw WebSocketError(.headersTooLarge, message: "\(bytes) bytes of header fields, \(limits.maximumHeaderBytes) allowed")
        }
    }
}

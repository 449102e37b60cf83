package import HTTPTypes

extension WebSocketHandshake {
    /// Checks the number and size of header fields.
    ///
    /// In addition, NIO's HTTP parser permits 256 fields, 80 KiB for each field, and 2 MiB in
    /// total.
    ///
    /// - Throws: ``WebSocketError/Code/headersTooLarge``.
    package static func judge(_ fields: HTTPFields, limits: WebSocketLimits) throws(WebSocketError) {
        guard fields.count <= limits.maximumHeaderFields else {
            throw WebSocketError(
                .headersTooLarge,
                message:
                    "the handshake has \(fields.count) header fields; the maximum is \(limits.maximumHeaderFields) (`maximumHeaderFields`)")
        }
        var bytes = 0
        for field in fields {
            bytes += field.name.rawName.utf8.count + field.value.utf8.count
        }
        guard bytes <= limits.maximumHeaderBytes else {
            throw WebSocketError(
                .headersTooLarge,
                message: "the header fields have \(bytes) bytes; the maximum is \(limits.maximumHeaderBytes) (`maximumHeaderBytes`)")
        }
    }
}

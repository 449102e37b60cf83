package import HTTPTypes

extension WebSocketHandshake {
    /// Checks the number and size of header fields.
    ///
    /// These are the limits of the connection. NIO's HTTP parser has its own: 256 fields, 80 KiB
    /// for each, 2 MiB in total.
    ///
    /// - Throws: ``WebSocketError/Code/headersTooLarge``.
    package static func judge(_ fields: HTTPFields, limits: WebSocketLimits) throws(WebSocketError) {
        guard fields.count <= limits.maximumHeaderFields else {
            throw WebSocketError(
                .headersTooLarge, message: "\(fields.count) header fields exceed the limit of \(limits.maximumHeaderFields)")
        }
        var bytes = 0
        for field in fields {
            bytes += field.name.rawName.utf8.count + field.value.utf8.count
        }
        guard bytes <= limits.maximumHeaderBytes else {
            throw WebSocketError(
                .headersTooLarge, message: "\(bytes) bytes of header fields exceed the limit of \(limits.maximumHeaderBytes)")
        }
    }
}

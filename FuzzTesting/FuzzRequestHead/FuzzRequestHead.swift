import ApusWebSocketProtocol
import HTTPTypes
import NIOCore
import NIOEmbedded
import NIOHTTP1
import NIOHTTPTypes
import NIOHTTPTypesHTTP1

/// Parses any bytes as the head of a WebSocket request: no trap, and NIO's parser returns the same
/// request with no bytes before or after it.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzRequestHead(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    let bytes = ByteBuffer(bytes: UnsafeBufferPointer(start: start, count: count))
    let limits = WebSocketLimits()
    guard let request = WebSocketRequestHead.request(in: bytes, isSecure: false, limits: limits) else { return 0 }
    let channel = EmbeddedChannel()
    var parts: [HTTPRequestPart] = []
    do {
        let decoder = HTTPRequestDecoder(leftOverBytesStrategy: .forwardBytes)
        try channel.pipeline.syncOperations.addHandler(ByteToMessageHandler(decoder))
        try channel.pipeline.syncOperations.addHandler(HTTP1ToHTTPServerCodec(secure: false))
        try channel.writeInbound(bytes)
        while let part = try channel.readInbound(as: HTTPRequestPart.self) { parts.append(part) }
        _ = try channel.finish(acceptAlreadyClosed: true)
    } catch {
        preconditionFailure("NIO's parser rejects the request: \(error)")
    }
    precondition(parts == [.head(request), .end(nil)], "NIO's parser reads a different request")
    precondition(request.headerFields.count <= limits.maximumHeaderFields, "too many fields")
    return 0
}

import ApusWebSocketProtocol
import HTTPTypes
import NIOCore
import NIOEmbedded
import NIOHTTP1
import NIOHTTPTypes
import NIOHTTPTypesHTTP1

/// Any bytes as the head of a request for a WebSocket: no trap, and what is taken apart comes out of NIO's parser the same, with nothing before
/// and nothing behind it.
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
        preconditionFailure("the parser refuses what was taken: \(error)")
    }
    precondition(parts == [.head(request), .end(nil)], "the parser reads something else")
    precondition(request.headerFields.count <= limits.maximumHeaderFields, "too many fields")
    return 0
}

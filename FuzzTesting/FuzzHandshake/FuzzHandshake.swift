import ApusWebSocketProtocol
import HTTPTypes
import NIOCore

/// Uses any texts as addresses, header fields, extensions and subprotocols: no trap, no CR, LF or
/// NUL on the wire, and clients accept every response of a server.
///
/// The lines of the input are an address, a value of `Sec-WebSocket-Extensions`, a value of
/// `Sec-WebSocket-Protocol`, and fields `name: value`.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzHandshake(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    let bytes = UnsafeBufferPointer(start: start, count: count)
    guard let control = bytes.first else { return 0 }
    let lines = bytes.dropFirst().split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
        .map { String(decoding: $0, as: UTF8.self) }
    func line(_ index: Int) -> String { lines.indices.contains(index) ? lines[index] : "" }
    let deflate = configuration(control)
    checkExtensions(line(1), deflate)
    guard let url = try? WebSocketURL(line(0)) else { return 0 }
    precondition((1...65535).contains(url.port) && !url.host.isEmpty && url.requestTarget.hasPrefix("/"), "an invalid address")

    var fields = HTTPFields()
    for line in lines.dropFirst(3) {
        let parts = line.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
        if let name = HTTPField.Name(parts[0]) { fields.append(HTTPField(name: name, value: parts.count == 2 ? parts[1] : "")) }
    }
    let protocols = line(2).split(separator: ",").map(String.init)
    let key = WebSocketHandshake.key(fromRandom: 1, 2)
    guard
        let request = try? WebSocketHandshake.request(
            to: url, headers: fields, subprotocols: control & 1 == 0 ? protocols : [], deflate: deflate, key: key)
    else { return 0 }
    for field in request.headerFields {
        precondition(!(field.name.rawName + field.value).utf8.contains { $0 == 10 || $0 == 13 || $0 == 0 }, "a field with CR, LF or NUL")
    }
    guard let (response, agreement) = try? WebSocketHandshake.accept(request, deflate: deflate, choosingSubprotocol: \.last) else {
        return 0
    }
    do {
        let answer = HTTPResponse(status: .switchingProtocols, headerFields: response)
        let ours = try WebSocketHandshake.check(answer, to: request, deflate: deflate)
        precondition(ours.subprotocol == agreement.subprotocol, "client and server disagree on the subprotocol")
        checkPair(server: agreement.deflate, client: ours.deflate)
    } catch {
        preconditionFailure("the client rejects the server's response: \(error)")
    }
    return 0
}

private func configuration(_ control: UInt8) -> WebSocketDeflateConfiguration {
    var deflate = WebSocketDeflateConfiguration()
    deflate.serverNoContextTakeover = control & 2 != 0
    deflate.clientNoContextTakeover = control & 4 != 0
    deflate.serverMaximumWindowBits = 15 - Int(control >> 3 & 3)
    deflate.clientMaximumWindowBits = 15 - Int(control >> 5)
    return deflate
}

/// Negotiates any header value: no trap, and the agreement is within the configuration.
private func checkExtensions(_ value: String, _ deflate: WebSocketDeflateConfiguration) {
    if let granted = try? WebSocketDeflateNegotiation.accept([value], configuration: deflate) {
        precondition((8...deflate.serverMaximumWindowBits).contains(granted.agreement.outgoingWindowBits), "the window is too large")
        precondition(!deflate.serverNoContextTakeover || !granted.agreement.outgoingTakesContextOver, "a takeover that was not granted")
    }
    if let agreement = try? WebSocketDeflateNegotiation.check([value], offered: deflate) {
        precondition((8...deflate.serverMaximumWindowBits).contains(agreement.incomingWindowBits), "the window is too large")
        precondition((8...deflate.clientMaximumWindowBits).contains(agreement.outgoingWindowBits), "the window is too large")
    }
}

private func checkPair(server: WebSocketDeflateAgreement?, client: WebSocketDeflateAgreement?) {
    precondition((server == nil) == (client == nil), "only one side compresses")
    guard let server, let client else { return }
    precondition(client.outgoingWindowBits <= server.incomingWindowBits, "the server's window is too small")
    precondition(server.outgoingWindowBits <= client.incomingWindowBits, "the client's window is too small")
    precondition(server.incomingTakesContextOver || !client.outgoingTakesContextOver, "the server discards its context too early")
    precondition(client.incomingTakesContextOver || !server.outgoingTakesContextOver, "the client discards its context too early")
}

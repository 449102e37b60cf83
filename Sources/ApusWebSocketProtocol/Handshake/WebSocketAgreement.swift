/// The result of the opening handshake.
package struct WebSocketAgreement: Hashable, Sendable {
    /// The selected subprotocol; `nil` for none.
    package var subprotocol: String?
    /// The negotiated compression; `nil` for none.
    package var deflate: WebSocketDeflateAgreement?

    package init(subprotocol: String? = nil, deflate: WebSocketDeflateAgreement? = nil) {
        self.subprotocol = subprotocol
        self.deflate = deflate
    }
}

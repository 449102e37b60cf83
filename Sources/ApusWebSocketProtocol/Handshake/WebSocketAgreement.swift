/// What the opening handshake settled.
package struct WebSocketAgreement: Hashable, Sendable {
    /// The chosen subprotocol; `nil` for none.
    package var subprotocol: String?
    /// How messages are compressed; `nil`: not at all.
    package var deflate: WebSocketDeflateAgreement?

    package init(subprotocol: String? = nil, deflate: WebSocketDeflateAgreement? = nil) {
        self.subprotocol = subprotocol
        self.deflate = deflate
    }
}

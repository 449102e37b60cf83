/// Whether to compress a message, if compression was negotiated.
public enum WebSocketCompression: Hashable, Sendable {
    /// Compress messages of ``WebSocketDeflateConfiguration/threshold`` bytes or more.
    case automatic
    /// Compress every message, even an empty one.
    case always
    /// Do not compress: for data that is already compressed, and for secrets next to text an
    /// attacker chose (CRIME, BREACH).
    case never
}

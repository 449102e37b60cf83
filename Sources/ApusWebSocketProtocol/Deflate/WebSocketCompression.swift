/// The policy for compressing a message, if compression was negotiated.
public enum WebSocketCompression: Hashable, Sendable {
    /// Compress messages of ``WebSocketDeflateConfiguration/threshold`` bytes or more.
    case automatic
    /// Compress every message, even an empty one.
    case always
    /// Do not compress. Use it for data that is already compressed, and for secrets next to text
    /// that an attacker can choose (CRIME, BREACH).
    case never
}

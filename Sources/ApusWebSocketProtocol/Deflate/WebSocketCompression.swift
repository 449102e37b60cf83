/// Whether one message is to be compressed, where the peer agreed to compression at all.
public enum WebSocketCompression: Hashable, Sendable {
    /// From ``WebSocketDeflateConfiguration/threshold`` bytes on.
    case automatic
    /// In any case, even an empty one.
    case always
    /// Not at all: bytes that are compressed already, or secrets beside text a stranger chose (CRIME, BREACH).
    case never
}

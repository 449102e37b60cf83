/// The sizes both sides keep to. The server enforces them; a client that checks first gives the better message.
public enum ChatLimits {
    /// Longest text of a message, in Unicode scalars (`[...text].length` in JavaScript).
    public static let textLength = 8_000
    /// Largest upload, in bytes.
    public static let blobBytes = 10 * 1024 * 1024
    /// Widest or tallest picture accepted, in pixels: a "pixel flood" is refused before anybody decodes it (hazard 22).
    public static let imageSide = 16_384
    /// Most pixels of a picture.
    public static let imagePixels: Int64 = 100_000_000
    /// Largest packet from a client, in bytes. The longest text takes 96,000 when each character is
    /// written as two escapes.
    public static let requestBytes = 128 * 1024
    /// Largest answer to a request, in bytes of JSON. Longer lists are answered in pages.
    public static let answerBytes = 256 * 1024
    /// Most events of one `sync`; fewer when these exceed `answerBytes`.
    public static let syncEvents = 200
    /// Most users in one page of an answer to `users`.
    public static let users = 50
    /// Most members of a group, and of a head. Full events go to online members up to here (rule 4
    /// of the chat).
    public static let members = 500
    /// Longest title of a group, in Unicode scalars.
    public static let titleLength = 100
    /// Longest display name, in Unicode scalars.
    public static let displayLength = 50
    /// Shortest password, in Unicode scalars.
    public static let passwordLength = 8
    /// Longest password, in bytes, so that hashing it costs nobody anything.
    public static let passwordBytes = 1_024
}

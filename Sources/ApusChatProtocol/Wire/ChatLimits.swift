/// The limits of the chat protocol. The server enforces them; clients may check them first.
public enum ChatLimits {
    /// The maximum length of a message's text, in Unicode scalars (`[...text].length` in
    /// JavaScript).
    public static let textLength = 8_000
    /// The maximum size of an upload, in bytes.
    public static let blobBytes = 10 * 1024 * 1024
    /// The maximum width and height of a picture, in pixels. Larger pictures are rejected before
    /// any decoder reads them (docs/hazards.md, 22).
    public static let imageSide = 16_384
    /// The maximum number of pixels of a picture.
    public static let imagePixels: Int64 = 64_000_000
    /// The maximum size of a packet from a client, in bytes. The longest text takes 96,000 bytes
    /// when each character is written as two escapes.
    public static let requestBytes = 128 * 1024
    /// The maximum size of an answer, in bytes of JSON. Longer lists are returned in pages.
    public static let answerBytes = 256 * 1024
    /// The maximum number of events in the answer to `sync`; fewer when they exceed `answerBytes`.
    public static let syncEvents = 200
    /// The maximum number of users in one page of the answer to `users`.
    public static let users = 50
    /// The maximum number of members of a group, and of members listed in a head.
    public static let members = 500
    /// The maximum length of a group's title, in Unicode scalars.
    public static let titleLength = 100
    /// The maximum length of a display name, in Unicode scalars.
    public static let displayLength = 50
    /// The minimum length of a password, in Unicode scalars.
    public static let passwordLength = 8
    /// The maximum length of a password, in bytes, which bounds the input of the hash function.
    public static let passwordBytes = 1_024
}

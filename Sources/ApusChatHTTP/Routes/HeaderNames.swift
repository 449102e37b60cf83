import HTTPTypes

extension HTTPField.Name {
    // All names are valid literals, so the fallback is never used.
    private static func named(_ text: String) -> HTTPField.Name { HTTPField.Name(text) ?? .server }

    static let referrerPolicy = Self.named("Referrer-Policy")
    static let resourcePolicy = Self.named("Cross-Origin-Resource-Policy")
    static let fetchSite = Self.named("Sec-Fetch-Site")
    /// The field has the value `cookie` if the server's page keeps its session in cookies.
    static let chatSession = Self.named("Chat-Session")

    // tus 1.0
    static let tusResumable = Self.named("Tus-Resumable")
    static let tusVersion = Self.named("Tus-Version")
    static let tusExtension = Self.named("Tus-Extension")
    static let tusMaxSize = Self.named("Tus-Max-Size")
    static let methodOverride = Self.named("X-HTTP-Method-Override")
    static let uploadLength = Self.named("Upload-Length")
    static let uploadOffset = Self.named("Upload-Offset")
    static let uploadMetadata = Self.named("Upload-Metadata")
    static let uploadExpires = Self.named("Upload-Expires")

    // The properties of a complete upload.
    static let chatBlob = Self.named("Chat-Blob")
    static let chatType = Self.named("Chat-Type")
    static let chatSize = Self.named("Chat-Size")
    static let chatWidth = Self.named("Chat-Width")
    static let chatHeight = Self.named("Chat-Height")
    static let chatDuration = Self.named("Chat-Duration")
    static let chatThumb = Self.named("Chat-Thumb")
}

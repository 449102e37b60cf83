package import ApusJSON

/// The hello frame: the version, capabilities and limits of one side.
public struct FramedHello: Hashable, Sendable {
    /// The version of the protocol.
    public static let version = 2

    /// The maximum number of the peer's capabilities.
    private static let maximumCapabilities = 64
    /// The maximum length of the name of a capability.
    private static let maximumCapabilityBytes = 64

    /// The names of the optional features that the side supports. Unknown names are kept and have
    /// no effect.
    public var capabilities: Set<String>
    /// The largest header that the side accepts. Unit: bytes.
    public var maximumHeaderBytes: Int
    /// The largest message body that the side accepts. Unit: bytes.
    public var maximumBodyBytes: Int

    /// Creates the hello of a side with the given capabilities and limits.
    ///
    /// - Parameters:
    ///   - capabilities: The names of the supported features.
    ///   - limits: The limits to announce.
    public init(capabilities: Set<String> = [], limits: FramedLimits = .init()) {
        self.capabilities = capabilities
        self.maximumHeaderBytes = limits.maximumHeaderBytes
        self.maximumBodyBytes = limits.maximumBodyBytes
    }

    /// The head of the hello frame.
    package var head: FrameHead {
        FrameHead(
            .hello,
            header: [
                "version": JSONValue(Self.version), "capabilities": .array(self.capabilities.sorted().map(JSONValue.string)),
                "limits": ["header": JSONValue(self.maximumHeaderBytes), "body": JSONValue(self.maximumBodyBytes)],
            ])
    }

    /// Reads the peer's hello. Unknown members are ignored, for later versions.
    package init(_ header: JSONObject) throws(FramedError) {
        guard case .integer(let version)? = header["version"] else {
            throw FramedError(.malformedHeader, message: "`version` of the hello must be an integer")
        }
        guard version == Self.version else {
            throw FramedError(.unsupportedVersion, message: "the peer uses version \(version); only version \(Self.version) is supported")
        }
        guard let names = header["capabilities"]?.arrayValue, names.count <= Self.maximumCapabilities else {
            throw FramedError(
                .malformedHeader, message: "`capabilities` of the hello must be a list of at most \(Self.maximumCapabilities) names")
        }
        self.capabilities = []
        for name in names {
            guard let text = name.stringValue, text.utf8.count <= Self.maximumCapabilityBytes else {
                throw FramedError(
                    .malformedHeader, message: "a capability of the hello must be a string of at most \(Self.maximumCapabilityBytes) bytes")
            }
            self.capabilities.insert(text)
        }
        guard case .integer(let headerBytes)? = header["limits"]?["header"], case .integer(let bodyBytes)? = header["limits"]?["body"],
            headerBytes >= 0, bodyBytes >= 0
        else {
            throw FramedError(.malformedHeader, message: "`limits` of the hello must have the integers `header` and `body`, 0 or greater")
        }
        self.maximumHeaderBytes = Int(clamping: min(headerBytes, Int64(FramedLimits.highestHeaderBytes)))
        self.maximumBodyBytes = Int(clamping: bodyBytes)
    }
}

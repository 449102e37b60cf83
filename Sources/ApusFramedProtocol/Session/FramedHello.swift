package import ApusJSON

/// What a side says of itself before anything else.
package struct FramedHello: Hashable, Sendable {
    package static let version = 2

    /// More than these many, or longer ones, are no capabilities but an attack.
    private static let maximumCapabilities = 64
    private static let maximumCapabilityBytes = 64

    /// What a side can do beyond messages. Names of which we know nothing are kept and mean nothing.
    package var capabilities: Set<String>
    /// The largest header the side takes.
    package var maximumHeaderBytes: Int
    /// The largest body of one message the side takes.
    package var maximumBodyBytes: Int

    package init(capabilities: Set<String> = [], limits: FramedLimits = .init()) {
        self.capabilities = capabilities
        self.maximumHeaderBytes = limits.maximumHeaderBytes
        self.maximumBodyBytes = limits.maximumBodyBytes
    }

    /// The frame that says it.
    package var head: FrameHead {
        FrameHead(
            .hello,
            header: [
                "version": JSONValue(Self.version), "capabilities": .array(self.capabilities.sorted().map(JSONValue.string)),
                "limits": ["header": JSONValue(self.maximumHeaderBytes), "body": JSONValue(self.maximumBodyBytes)],
            ])
    }

    /// Reads the peer's. Members it does not know are for a later version.
    package init(_ header: JSONObject) throws(FramedError) {
        guard case .integer(let version)? = header["version"] else {
            throw FramedError(.malformedHeader, message: "a hello without a version")
        }
        guard version == Self.version else {
            throw FramedError(.unsupportedVersion, message: "the peer speaks version \(version), we speak version \(Self.version)")
        }
        guard let names = header["capabilities"]?.arrayValue, names.count <= Self.maximumCapabilities else {
            throw FramedError(.malformedHeader, message: "a hello without a list of at most \(Self.maximumCapabilities) capabilities")
        }
        self.capabilities = []
        for name in names {
            guard let text = name.stringValue, text.utf8.count <= Self.maximumCapabilityBytes else {
                throw FramedError(.malformedHeader, message: "a capability that is no name")
            }
            self.capabilities.insert(text)
        }
        guard case .integer(let headerBytes)? = header["limits"]?["header"], case .integer(let bodyBytes)? = header["limits"]?["body"],
            headerBytes >= 0, bodyBytes >= 0
        else { throw FramedError(.malformedHeader, message: "a hello without its limits") }
        self.maximumHeaderBytes = Int(clamping: min(headerBytes, Int64(FramedLimits.highestHeaderBytes)))
        self.maximumBodyBytes = Int(clamping: bodyBytes)
    }
}

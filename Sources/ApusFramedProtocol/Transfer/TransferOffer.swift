package import ApusJSON
package import Crypto

/// A file that is offered: what the receiver must know before it takes a byte.
package struct TransferOffer: Hashable, Sendable {
    /// The most bytes of an id.
    package static let maximumIDBytes = 128

    /// What makes two offers one upload, over connections and restarts: of the sender's choice, the same for the same file.
    ///
    /// The sender's secret: whoever presents it learns how much of the upload there is, and may go on with it.
    package let id: String
    /// The name of the unfinished file: of our choice, whatever the id holds.
    package let partName: String
    package var name: SafeFileName
    /// The bytes of the file.
    package var size: Int
    /// When the file was changed last, in nanoseconds since 1970; `nil`: not to be kept.
    package var modified: Int64?
    /// The permissions, nine bits; `nil`: not to be kept.
    package var permissions: UInt16?
    /// It is a folder that holds nothing.
    package var isFolder: Bool
    /// The hash of the whole file, in hexadecimal digits, when its bytes come with the offer (``WholeFile``).
    package var wholeHash: String?
    /// What the sender has of the beginning for which the receiver asked; in an offer that is repeated.
    package var shown: ShownBeginning?

    package init(
        id: String, name: SafeFileName, size: Int, modified: Int64? = nil, permissions: UInt16? = nil, isFolder: Bool = false,
        wholeHash: String? = nil, shown: ShownBeginning? = nil
    ) throws(TransferError) {
        guard !id.isEmpty, id.utf8.count <= Self.maximumIDBytes, size >= 0, permissions.map({ $0 <= 0o777 }) ?? true else {
            throw TransferError(.protocolViolation, message: "an offer without an id, a size or permissions that can be")
        }
        guard wholeHash.map({ $0.utf8.count == 64 && size <= WholeFile.maximumBytes }) ?? true else {
            throw TransferError(.protocolViolation, message: "a whole file of \(size) bytes, or without a hash")
        }
        guard shown.map({ $0.sha256.utf8.count == 64 && (1...max(1, size)).contains($0.bytes) }) ?? true else {
            throw TransferError(.protocolViolation, message: "a beginning that is none of \(size) bytes, or without a hash")
        }
        guard !isFolder || size == 0 else { throw TransferError(.protocolViolation, message: "a folder of \(size) bytes") }
        self.id = id
        self.partName = Self.partName(id: id)
        self.name = name
        self.size = size
        self.modified = modified
        self.permissions = permissions
        self.isFolder = isFolder
        self.wholeHash = wholeHash
        self.shown = shown
    }

    package static let partSuffix = ".part"

    package static func partName(id: String) -> String {
        "\(SafeFileName.partPrefix)\(SHA256.hash(data: Array(id.utf8)).hexadecimal.prefix(32))\(Self.partSuffix)"
    }

    /// Reads the header of an offer. Members it does not know are for a later version.
    package init(_ header: JSONObject) throws(TransferError) {
        guard let id = header["id"]?.stringValue, let name = header["name"]?.stringValue, case .integer(let size)? = header["size"],
            let size = Int(exactly: size)
        else { throw TransferError(.protocolViolation, message: "an offer without id, name or size") }
        var modified: Int64?
        if let value = header["modified"] {
            guard case .integer(let number) = value else { throw TransferError(.protocolViolation, message: "an offer whose time is none") }
            modified = number
        }
        var wholeHash: String?
        if let value = header["sha256"] {
            guard let text = value.stringValue else { throw TransferError(.protocolViolation, message: "an offer whose hash is none") }
            wholeHash = text
        }
        var permissions: UInt16?
        if let value = header["permissions"] {
            guard case .integer(let number) = value, let bits = UInt16(exactly: number) else {
                throw TransferError(.protocolViolation, message: "an offer whose permissions are none")
            }
            permissions = bits
        }
        try self.init(
            id: id, name: try SafeFileName(name), size: size, modified: modified, permissions: permissions,
            isFolder: header["folder"]?.boolValue ?? false, wholeHash: wholeHash, shown: try header["shown"].map(ShownBeginning.init))
    }

    /// The body of the frame that offers it.
    package var bodyLength: Int { self.wholeHash == nil || self.size == 0 ? 0 : TransferChunk.prefixBytes + self.size }

    /// The frame that offers it.
    package func head(stream: UInt16) -> FrameHead {
        var header: JSONObject = ["id": .string(self.id), "name": .string(self.name.description), "size": JSONValue(self.size)]
        header["modified"] = self.modified.map { .integer($0) }
        header["permissions"] = self.permissions.map { .integer(Int64($0)) }
        if self.isFolder { header["folder"] = true }
        header["sha256"] = self.wholeHash.map { .string($0) }
        header["shown"] = self.shown.map { ["bytes": JSONValue($0.bytes), "sha256": .string($0.sha256)] }
        return FrameHead(.offer, stream: stream, header: header, bodyLength: self.bodyLength)
    }
}

/// What a sender shows before a receiver lets it go on with a file: the hash of the file's first bytes.
///
/// The receiver compares and tells no hash of its own: what it has may be another's.
package struct ShownBeginning: Hashable, Sendable {
    /// How many bytes.
    package var bytes: Int
    /// Their SHA-256, in hexadecimal digits.
    package var sha256: String

    package init(bytes: Int, sha256: String) {
        self.bytes = bytes
        self.sha256 = sha256
    }

    init(_ value: JSONValue) throws(TransferError) {
        guard case .integer(let number)? = value["bytes"], let bytes = Int(exactly: number), let sha256 = value["sha256"]?.stringValue
        else { throw TransferError(.protocolViolation, message: "an offer whose beginning is none") }
        self.init(bytes: bytes, sha256: sha256)
    }
}

extension SHA256.Digest {
    /// Lower-case digits.
    package var hexadecimal: String {
        func digit(_ value: UInt8) -> UInt8 { value < 10 ? UInt8(ascii: "0") + value : UInt8(ascii: "a") - 10 + value }
        return self.withUnsafeBytes { bytes in
            String(unsafeUninitializedCapacity: 2 * bytes.count) { digits in
                for (index, byte) in bytes.enumerated() {
                    digits[2 * index] = digit(byte >> 4)
                    digits[2 * index + 1] = digit(byte & 15)
                }
                return 2 * bytes.count
            }
        }
    }
}

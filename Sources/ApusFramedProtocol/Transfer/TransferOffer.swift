package import ApusJSON
package import Crypto

/// The offer of a file: everything that the receiver needs before the first byte.
package struct TransferOffer: Hashable, Sendable {
    /// The maximum length of an id. Unit: bytes.
    package static let maximumIDBytes = 128

    /// The identifier of the upload across connections and restarts. The sender chooses it and uses
    /// the same one for the same file.
    ///
    /// It is a secret of the sender: a peer that presents it receives the progress of the upload
    /// and can resume it.
    package let id: String
    /// The name of the unfinished file, derived from the hash of the id.
    package let partName: String
    package var name: SafeFileName
    /// The size of the file in bytes.
    package var size: Int
    /// The modification time in nanoseconds since 1970; `nil` when it is not preserved.
    package var modified: Int64?
    /// The nine permission bits; `nil` when they are not preserved.
    package var permissions: UInt16?
    /// Whether the offer is an empty folder.
    package var isFolder: Bool
    /// The SHA-256 of the whole file, in hexadecimal digits, when its bytes follow the offer
    /// (``WholeFile``).
    package var wholeHash: String?
    /// The hash of the file's first bytes, if the receiver requested it. Present only in a repeated
    /// offer.
    package var shown: PrefixProof?

    package init(
        id: String, name: SafeFileName, size: Int, modified: Int64? = nil, permissions: UInt16? = nil, isFolder: Bool = false,
        wholeHash: String? = nil, shown: PrefixProof? = nil
    ) throws(TransferError) {
        guard !id.isEmpty, id.utf8.count <= Self.maximumIDBytes, size >= 0, permissions.map({ $0 <= 0o777 }) ?? true else {
            throw TransferError(
                .protocolViolation,
                message:
                    "an offer must have an `id` of 1 to \(Self.maximumIDBytes) bytes, a `size` of 0 or more, and `permissions` of at most 0o777"
            )
        }
        guard wholeHash.map({ $0.utf8.count == 64 && size <= WholeFile.maximumBytes }) ?? true else {
            throw TransferError(
                .protocolViolation,
                message: "a file in its offer must have at most \(WholeFile.maximumBytes) bytes, not \(size), and a `sha256` of 64 digits")
        }
        guard shown.map({ $0.sha256.utf8.count == 64 && (1...max(1, size)).contains($0.bytes) }) ?? true else {
            throw TransferError(
                .protocolViolation,
                message: "`shown` of an offer must have `bytes` from 1 to the size, \(size), and a `sha256` of 64 digits")
        }
        guard !isFolder || size == 0 else {
            throw TransferError(.protocolViolation, message: "the `size` of a folder must be 0, not \(size)")
        }
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

    /// Reads the header of an offer. Unknown members are ignored, for later versions.
    package init(_ header: JSONObject) throws(TransferError) {
        guard let id = header["id"]?.stringValue, let name = header["name"]?.stringValue, case .integer(let size)? = header["size"],
            let size = Int(exactly: size)
        else { throw TransferError(.protocolViolation, message: "an offer must have the strings `id` and `name` and the integer `size`") }
        var modified: Int64?
        if let value = header["modified"] {
            guard case .integer(let number) = value else {
                throw TransferError(.protocolViolation, message: "`modified` of an offer must be an integer")
            }
            modified = number
        }
        var wholeHash: String?
        if let value = header["sha256"] {
            guard let text = value.stringValue else {
                throw TransferError(.protocolViolation, message: "`sha256` of an offer must be a string")
            }
            wholeHash = text
        }
        var permissions: UInt16?
        if let value = header["permissions"] {
            guard case .integer(let number) = value, let bits = UInt16(exactly: number) else {
                throw TransferError(.protocolViolation, message: "`permissions` of an offer must be an integer from 0 to 0o777")
            }
            permissions = bits
        }
        try self.init(
            id: id, name: try SafeFileName(name), size: size, modified: modified, permissions: permissions,
            isFolder: header["folder"]?.boolValue ?? false, wholeHash: wholeHash, shown: try header["shown"].map(PrefixProof.init))
    }

    /// The length of the body of the offer frame, in bytes.
    package var bodyLength: Int { self.wholeHash == nil || self.size == 0 ? 0 : TransferChunk.prefixBytes + self.size }

    /// Returns the head of the offer frame.
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

/// The proof that a sender presents before a receiver resumes a file: the hash of the file's first
/// bytes.
///
/// The receiver compares the hash and does not disclose the hash of its own bytes, because they may
/// belong to another sender.
package struct PrefixProof: Hashable, Sendable {
    /// The number of bytes.
    package var bytes: Int
    /// The SHA-256 of the bytes, in hexadecimal digits.
    package var sha256: String

    package init(bytes: Int, sha256: String) {
        self.bytes = bytes
        self.sha256 = sha256
    }

    init(_ value: JSONValue) throws(TransferError) {
        guard case .integer(let number)? = value["bytes"], let bytes = Int(exactly: number), let sha256 = value["sha256"]?.stringValue
        else {
            throw TransferError(.protocolViolation, message: "`shown` of an offer must have the integer `bytes` and the string `sha256`")
        }
        self.init(bytes: bytes, sha256: sha256)
    }
}

extension SHA256.Digest {
    /// The digest in lower-case hexadecimal digits.
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

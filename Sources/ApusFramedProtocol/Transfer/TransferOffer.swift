package import ApusJSON
package import Crypto

/// A file that is offered: what the receiver must know before it takes a byte.
package struct TransferOffer: Hashable, Sendable {
    /// The most bytes of an id.
    package static let maximumIDBytes = 128

    /// What makes two offers one upload, over connections and restarts: of the sender's choice, the same for the same file.
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
    /// What the receiver has is to be thrown away.
    package var isFresh: Bool
    /// It is a folder that holds nothing.
    package var isFolder: Bool
    /// The hash of the whole file, in hexadecimal digits, when its bytes come with the offer (``WholeFile``).
    package var wholeHash: String?

    package init(
        id: String, name: SafeFileName, size: Int, modified: Int64? = nil, permissions: UInt16? = nil, isFresh: Bool = false,
        isFolder: Bool = false, wholeHash: String? = nil
    ) throws(TransferError) {
        guard !id.isEmpty, id.utf8.count <= Self.maximumIDBytes, size >= 0, permissions.map({ $0 <= 0o777 }) ?? true else {
            throw TransferError(.protocolViolation, message: "an offer without an id, a size or permissions that can be")
        }
        guard wholeHash.map({ $0.utf8.count == 64 && size <= WholeFile.maximumBytes }) ?? true else {
            throw TransferError(.protocolViolation, message: "a whole file of \(size) bytes, or without a hash")
        }
        guard !isFolder || size == 0 else { throw TransferError(.protocolViolation, message: "a folder of \(size) bytes") }
        self.id = id
        self.partName = Self.partName(id: id)
        self.name = name
        self.size = size
        self.modified = modified
        self.permissions = permissions
        self.isFresh = isFresh
        self.isFolder = isFolder
        self.wholeHash = wholeHash
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
            isFresh: header["fresh"]?.boolValue ?? false, isFolder: header["folder"]?.boolValue ?? false,
            wholeHash: wholeHash)
    }

    /// The body of the frame that offers it.
    package var bodyLength: Int { self.wholeHash == nil || self.size == 0 ? 0 : TransferChunk.prefixBytes + self.size }

    /// The frame that offers it.
    package func head(stream: UInt16) -> FrameHead {
        var header: JSONObject = ["id": .string(self.id), "name": .string(self.name.description), "size": JSONValue(self.size)]
        header["modified"] = self.modified.map { .integer($0) }
        header["permissions"] = self.permissions.map { .integer(Int64($0)) }
        if self.isFresh { header["fresh"] = true }
        if self.isFolder { header["folder"] = true }
        header["sha256"] = self.wholeHash.map { .string($0) }
        return FrameHead(.offer, stream: stream, header: header, bodyLength: self.bodyLength)
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

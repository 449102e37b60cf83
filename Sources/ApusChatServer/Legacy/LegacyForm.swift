import ApusJSON

/// Decodes the forms of the legacy routes: form-urlencoded or JSON, and multipart for files.
enum LegacyForm {
    /// The maximum number of fields or parts of a form.
    private static let maximumFields = 32
    /// The maximum size of the header of a part, in bytes.
    private static let headerBytes = 2_048

    /// Returns the fields of `application/x-www-form-urlencoded` (WHATWG URL, section 5.1) or of a
    /// JSON object. Values other than strings are omitted.
    static func fields(_ bytes: some Collection<UInt8>, contentType: String) -> [String: String] {
        var fields: [String: String] = [:]
        guard !contentType.lowercased().hasPrefix("application/json") else {
            guard let object = (try? JSONReader.read(bytes, limits: .init(loneSurrogates: .replace)))?.objectValue else { return [:] }
            for (key, value) in object { fields[key] = value.stringValue }
            return fields
        }
        // The last element of the split is the rest of the form.
        for pair in bytes.split(separator: UInt8(ascii: "&"), maxSplits: self.maximumFields).prefix(self.maximumFields) {
            let parts = pair.split(separator: UInt8(ascii: "="), maxSplits: 1, omittingEmptySubsequences: false)
            guard let name = parts.first else { continue }
            fields[self.decoded(name)] = parts.count == 2 ? self.decoded(parts[1]) : ""
        }
        return fields
    }

    private static func decoded(_ bytes: some Collection<UInt8>) -> String {
        var text: [UInt8] = []
        text.reserveCapacity(bytes.count)
        var rest = bytes[...]
        while let byte = rest.popFirst() {
            switch byte {
            case UInt8(ascii: "+"): text.append(UInt8(ascii: " "))
            case UInt8(ascii: "%"):
                let digits = rest.prefix(2).compactMap(self.digit)
                guard digits.count == 2 else {
                    text.append(byte)
                    continue
                }
                text.append(digits[0] << 4 | digits[1])
                rest = rest.dropFirst(2)
            default: text.append(byte)
            }
        }
        return String(decoding: text, as: UTF8.self)
    }

    private static func digit(_ byte: UInt8) -> UInt8? {
        switch byte {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): byte - UInt8(ascii: "0")
        case UInt8(ascii: "a")...UInt8(ascii: "f"): byte - UInt8(ascii: "a") + 10
        case UInt8(ascii: "A")...UInt8(ascii: "F"): byte - UInt8(ascii: "A") + 10
        default: nil
        }
    }

    /// Returns the content of one part of `multipart/form-data` (RFC 7578); nil if the form has no
    /// such part.
    /// Ignores the file name and the media type of the part.
    static func part(_ name: String, of bytes: [UInt8], contentType: String) -> [UInt8]? {
        guard let boundary = self.boundary(contentType) else { return nil }
        let delimiter = Array("--".utf8) + boundary
        var position = 0
        for _ in 0..<self.maximumFields {
            guard let start = self.find(delimiter, in: bytes, from: position) else { return nil }
            let header = start + delimiter.count
            guard header + 2 <= bytes.count, bytes[header] == 0x0D, bytes[header + 1] == 0x0A,
                let end = self.find([0x0D, 0x0A, 0x0D, 0x0A], in: bytes, from: header), end - header <= self.headerBytes,
                let next = self.find([0x0D, 0x0A] + delimiter, in: bytes, from: end + 4 - 2)
            else { return nil }
            let text = String(decoding: bytes[header..<end], as: UTF8.self)
            if self.names(name, text) { return next > end + 4 ? Array(bytes[(end + 4)..<next]) : [] }
            position = next + 2
        }
        return nil
    }

    private static func boundary(_ contentType: String) -> [UInt8]? {
        guard contentType.lowercased().hasPrefix("multipart/form-data") else { return nil }
        for parameter in contentType.split(separator: ";").dropFirst() {
            let parts = parameter.split(separator: "=", maxSplits: 1)
            guard parts.count == 2, parts[0].trimmed.lowercased() == "boundary" else { continue }
            let text = Array(parts[1].trimmed.utf8.filter { $0 != UInt8(ascii: "\"") })
            return (1...70).contains(text.count) ? text : nil
        }
        return nil
    }

    private static func names(_ name: String, _ header: String) -> Bool {
        header.split(separator: "\r\n").contains { line in
            line.lowercased().hasPrefix("content-disposition:")
                && line.split(separator: ";").contains { part in
                    let part = part.trimmed
                    return part == "name=\"\(name)\"" || part == "name=\(name)"
                }
        }
    }

    private static func find(_ pattern: [UInt8], in bytes: [UInt8], from start: Int) -> Int? {
        guard let first = pattern.first, start >= 0, bytes.count >= pattern.count else { return nil }
        var position = start
        while position <= bytes.count - pattern.count {
            guard let found = bytes[position...(bytes.count - pattern.count)].firstIndex(of: first) else { return nil }
            if bytes[found..<found + pattern.count].elementsEqual(pattern) { return found }
            position = found + 1
        }
        return nil
    }
}

extension Substring {
    fileprivate var trimmed: Substring {
        var text = self
        while let first = text.first, first == " " || first == "\t" { text.removeFirst() }
        while let last = text.last, last == " " || last == "\t" { text.removeLast() }
        return text
    }
}

/// The orientation in which a picture is shown: the value of the Exif tag 0x0112.
///
/// Source: CIPA DC-008 (Exif 2.32), 4.6.2 (TIFF structure) and 4.6.4 A (Orientation).
struct PictureOrientation: Hashable, Sendable {
    /// A value from 2 to 8. The value 1, "as stored", is represented by `nil`.
    let value: UInt8

    private static let tag = 0x0112
    private static let shortType = 3

    /// Reads the orientation from the first directory of a TIFF structure, which is the content of
    /// Exif metadata. Returns `nil` for the normal orientation, and for metadata that is not valid.
    init?(tiff bytes: ArraySlice<UInt8>) {
        guard bytes.count >= 8 else { return nil }
        let isBigEndian: Bool
        switch (bytes[bytes.startIndex], bytes[bytes.startIndex + 1]) {
        case (0x4D, 0x4D): isBigEndian = true
        case (0x49, 0x49): isBigEndian = false
        default: return nil
        }
        func number(_ offset: Int, _ count: Int) -> Int? {
            guard offset >= 0, offset <= bytes.count - count else { return nil }
            let field = bytes[bytes.startIndex + offset..<bytes.startIndex + offset + count]
            return isBigEndian ? field.reduce(0) { $0 << 8 | Int($1) } : field.reversed().reduce(0) { $0 << 8 | Int($1) }
        }
        guard number(2, 2) == 42, let directory = number(4, 4), let entries = number(directory, 2) else { return nil }
        for entry in 0..<entries {
            let offset = directory + 2 + entry * 12
            guard let tag = number(offset, 2) else { return nil }
            guard tag == Self.tag else { continue }
            guard number(offset + 2, 2) == Self.shortType, number(offset + 4, 4) == 1, let value = number(offset + 8, 2),
                (2...8).contains(value)
            else { return nil }
            self.value = UInt8(value)
            return
        }
        return nil
    }

    /// The size of ``tiff``, in bytes.
    static let tiffBytes = 26

    /// A TIFF structure with one directory that contains only this tag.
    var tiff: [UInt8] {
        [0x4D, 0x4D, 0, 42, 0, 0, 0, 8] + [0, 1] + [0x01, 0x12, 0, 3, 0, 0, 0, 1, 0, self.value, 0, 0] + [0, 0, 0, 0]
    }
}

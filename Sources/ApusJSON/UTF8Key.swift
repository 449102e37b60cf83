/// A string that compares by its UTF-8 bytes.
///
/// `String` compares by canonical equivalence: `é` as one scalar equals `é` as two, and `K` equals
/// the Kelvin sign. In network protocols these are different names.
package struct UTF8Key: Hashable, Sendable, CustomStringConvertible, ExpressibleByStringLiteral {
    /// The string.
    package let string: String

    package init(_ string: String) { self.string = string }

    package init(stringLiteral string: String) { self.string = string }

    package var description: String { self.string }

    package static func == (left: Self, right: Self) -> Bool { self.areEqual(left.string, right.string) }

    /// Returns whether two strings have the same UTF-8 bytes.
    package static func areEqual(_ left: String, _ right: String) -> Bool {
        // A short string is stored inline, so that equal ones have the same representation. Most
        // other strings differ in their number of bytes.
        if self.haveSameRepresentation(left, right) { return true }
        guard left.utf8.count == right.utf8.count else { return false }
        // A string bridged from Objective-C may have no contiguous bytes.
        return left.utf8.withContiguousStorageIfAvailable { left in
            right.utf8.withContiguousStorageIfAvailable { self.areEqual(UnsafeRawBufferPointer(left), UnsafeRawBufferPointer($0)) }
                ?? left.elementsEqual(right.utf8)
        } ?? left.utf8.elementsEqual(right.utf8)
    }

    /// Returns whether two strings have the same bits in memory: the same inline bytes, or a
    /// reference to the same storage.
    @inline(__always)
    private static func haveSameRepresentation(_ left: String, _ right: String) -> Bool {
        withUnsafeBytes(of: left) { left in withUnsafeBytes(of: right) { right in self.areEqual(left, right) } }
    }

    /// Compares the bytes.
    ///
    /// - Parameter right: The same number of bytes as `left`.
    @inline(__always)
    private static func areEqual(_ left: UnsafeRawBufferPointer, _ right: UnsafeRawBufferPointer) -> Bool {
        var offset = 0
        while offset &+ 8 <= left.count {
            guard
                left.loadUnaligned(fromByteOffset: offset, as: UInt64.self) == right.loadUnaligned(fromByteOffset: offset, as: UInt64.self)
            else { return false }
            offset &+= 8
        }
        while offset < left.count {
            guard left[offset] == right[offset] else { return false }
            offset &+= 1
        }
        return true
    }

    package func hash(into hasher: inout Hasher) {
        var string = self.string
        string.withUTF8 { hasher.combine(bytes: UnsafeRawBufferPointer($0)) }
    }
}

extension UTF8Key: Comparable {
    /// Compares by bytes, which is the order of the code points.
    package static func < (left: Self, right: Self) -> Bool { left.string.utf8.lexicographicallyPrecedes(right.string.utf8) }
}

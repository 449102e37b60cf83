/// The parts in which an object is uploaded.
///
/// Source: Amazon S3 User Guide, "Amazon S3 multipart upload limits".
package struct S3PartPlan: Hashable, Sendable {
    /// The minimum size of each part but the last, in bytes.
    package static let minimumBytes: Int64 = 5 << 20
    /// The maximum number of parts.
    package static let maximumCount: Int64 = 10_000
    /// The default size of a part, 8 MiB in bytes, if the object does not require larger parts.
    package static let usualBytes: Int64 = 8 << 20

    package struct Part: Hashable, Sendable {
        /// The number of the part; the first is 1.
        package var number: Int
        package var offset: Int64
        package var size: Int64
    }

    package let size: Int64
    package let partBytes: Int64

    /// - Parameters:
    ///   - size: The size of the object, in bytes; at least 1.
    ///   - usual: The size of a part, in bytes; at least ``minimumBytes``. Default: ``usualBytes``.
    package init(size: Int64, usual: Int64 = Self.usualBytes) {
        self.size = max(1, size)
        let required = self.size / Self.maximumCount + (self.size % Self.maximumCount > 0 ? 1 : 0)
        self.partBytes = max(usual, Self.minimumBytes, required)
    }

    /// The number of parts. An object of one part is uploaded by one request.
    package var count: Int { Int((self.size - 1) / self.partBytes + 1) }

    package var parts: some Sequence<Part> {
        let plan = self
        return (0..<self.count).lazy.map { index in
            let offset = Int64(index) * plan.partBytes
            return Part(number: index + 1, offset: offset, size: min(plan.partBytes, plan.size - offset))
        }
    }
}

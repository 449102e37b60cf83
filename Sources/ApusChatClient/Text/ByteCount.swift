/// Texts of numbers of bytes in the messages of errors.
enum ByteCount {
    /// Returns a limit in binary units, in which servers are configured. A number that is not whole
    /// has one decimal place and is rounded down, so that the text does not exceed the limit.
    static func text(ofLimit bytes: Int64) -> String {
        let units: [(Int64, String)] = [(1 << 30, "GiB"), (1 << 20, "MiB"), (1 << 10, "KiB")]
        guard let (unit, name) = units.first(where: { bytes >= $0.0 }) else { return "\(bytes) byte\(bytes == 1 ? "" : "s")" }
        let tenth = bytes % unit * 10 / unit
        return "\(bytes / unit)\(tenth == 0 ? "" : ".\(tenth)") \(name)"
    }
}

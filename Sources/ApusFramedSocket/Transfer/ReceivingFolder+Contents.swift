public import Foundation

// The methods that use Foundation. They are separate from the system calls, so that
// `scripts/check-apple` can check the system calls: on Linux, Foundation exports Glibc.
extension ReceivingFolder {
    /// Deletes unfinished files that were not written to for `TransferLimits.expiry`, and empty
    /// ones.
    ///
    /// Blocks while it scans the folder. Call it at startup and periodically.
    ///
    /// - Parameter now: The current time.
    /// - Returns: The number of deleted files.
    @discardableResult
    public func removeAbandoned(at now: Date = Date()) -> Int {
        self.removeAbandoned(now: now.timeIntervalSince1970)
    }

    /// Returns the size of all files in the folder and below, without following links.
    func storedBytes() -> Int {
        guard let files = FileManager.default.enumerator(atPath: self.path) else { return 0 }
        var sum = 0
        while files.nextObject() != nil {
            guard let size = files.fileAttributes?[.size] as? NSNumber, files.fileAttributes?[.type] as? FileAttributeType == .typeRegular
            else {
                continue
            }
            sum = sum.addingReportingOverflow(size.intValue).overflow ? .max : sum + size.intValue
        }
        return sum
    }
}

extension Int64 {
    /// Returns the time since an earlier time: 0 if the argument is later, and at most `Int64.max`.
    func elapsed(since earlier: Int64) -> Int64 {
        guard self > earlier else { return 0 }
        let (difference, isOverflown) = self.subtractingReportingOverflow(earlier)
        return isOverflown ? .max : difference
    }
}

extension Int64 {
    /// The time since an earlier moment: 0 if that is later, and never more than `Int64.max`.
    func elapsed(since earlier: Int64) -> Int64 {
        guard self > earlier else { return 0 }
        let (difference, isOverflown) = self.subtractingReportingOverflow(earlier)
        return isOverflown ? .max : difference
    }
}

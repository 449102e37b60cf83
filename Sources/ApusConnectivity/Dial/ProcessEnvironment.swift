#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

enum ProcessEnvironment {
    /// The variables of this process.
    @Sendable static func variables() -> [String: String] { ProcessInfo.processInfo.environment }
}

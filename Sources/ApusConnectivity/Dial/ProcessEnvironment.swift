#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

enum ProcessEnvironment {
    /// Returns the environment variables of this process.
    @Sendable static func variables() -> [String: String] { ProcessInfo.processInfo.environment }
}

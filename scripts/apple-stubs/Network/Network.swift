// swift-format-ignore-file: AllPublicDeclarationsHaveDocumentation
// A stub of Apple's Network framework for `scripts/check-apple`: the declarations that Sources
// uses, with the types of Apple's documentation. It is never linked or run.
//
// Sources, below https://developer.apple.com/documentation/network/: nwpathmonitor,
// nwpathmonitor/pathupdatehandler, nwpath, nwinterface, nwendpoint.

public import Dispatch

public final class NWPathMonitor: Sendable {
    public init() {}

    @preconcurrency public final var pathUpdateHandler: (@Sendable (_ newPath: NWPath) -> Void)? {
        get { nil }
        set {}
    }

    public final func start(queue: DispatchQueue) {}

    public final func cancel() {}
}

public struct NWPath: Equatable, Sendable {
    public enum Status: Hashable, Sendable {
        case satisfied, unsatisfied, requiresConnection
    }

    public let status: Status
    public let availableInterfaces: [NWInterface]
    public let gateways: [NWEndpoint]
    public let supportsIPv4: Bool
    public let supportsIPv6: Bool
}

public struct NWInterface: Hashable, Sendable {
    public let name: String
}

/// Its real cases have associated values. Sources only describes it.
public enum NWEndpoint: Hashable, CustomDebugStringConvertible, Sendable {
    case opaque

    public var debugDescription: String { "" }
}

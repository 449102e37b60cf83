public import ApusConnectivity
public import ApusEventLoop

/// The configuration of a chat client. The default values suit an interactive application.
public struct ChatClientConfiguration: Sendable {
    /// The name of this device in the list of sessions. Default: "Apus".
    public var deviceName = "Apus"
    /// The platform of this device. Default: the operating system.
    public var platform = Self.currentPlatform
    /// The maximum time to wait for the answer to a request. Default: 10 seconds.
    public var requestTimeout: Duration = .seconds(10)
    /// The maximum time to wait for one part of an upload, or for a download. Default: 120 seconds.
    public var transferTimeout: Duration = .seconds(120)
    /// The maximum time for which a change waits for a connection before it fails. Messages wait
    /// without a limit. Default: 20 seconds.
    public var changePatience: Duration = .seconds(20)
    /// The delays between attempts to connect. Default: 0.5 seconds, doubling up to 5 seconds, for
    /// an unlimited number of attempts.
    public var reconnection: ReconnectionPolicy = .exponential(from: .milliseconds(500), to: .seconds(5))
    /// The delay before the next attempt to connect after the server refused a connection. Default:
    /// 2 seconds.
    public var refusalDelay: Duration = .seconds(2)
    /// The verification of the server's certificate. Default: the certificate authorities of the
    /// system.
    public var tls: TLSSettings = .init()
    /// The proxy. Default: none.
    public var proxy: ProxySettings = .none
    /// The maximum number of conversations whose events are requested at the same time. Default: 4.
    public var maximumPulls = 4
    /// The maximum size of one part of an upload, in bytes. Default: 256 KiB.
    public var uploadPart = 256 * 1024
    /// Whether the server sends the signals of calls to this device, which a ``CallController``
    /// handles. Default: `false`.
    public var handlesCalls = false
    /// The maximum number of buffered pushes. Further pushes are dropped, and the client requests
    /// the changes. Default: 4,096.
    public var pushBuffer = 4_096

    /// Creates a configuration with the default values.
    public init() {}

    /// Checks the configuration.
    ///
    /// - Throws: `invalidConfiguration` if a value is out of its range.
    func validate() throws(ChatClientError) {
        let times = [("requestTimeout", self.requestTimeout), ("transferTimeout", self.transferTimeout)]
        for (name, time) in times where time <= .zero { throw Self.invalid("`\(name)` must be greater than 0, not \(time)") }
        let waits = [("changePatience", self.changePatience), ("refusalDelay", self.refusalDelay)]
        for (name, time) in waits where time < .zero { throw Self.invalid("`\(name)` must not be negative, but is \(time)") }
        let numbers = [("maximumPulls", self.maximumPulls), ("uploadPart", self.uploadPart), ("pushBuffer", self.pushBuffer)]
        for (name, number) in numbers where number <= 0 { throw Self.invalid("`\(name)` must be greater than 0, not \(number)") }
    }

    private static func invalid(_ message: String) -> ChatClientError { ChatClientError(.invalidConfiguration, message: message) }

    private static var currentPlatform: String {
        #if os(macOS)
            "macos"
        #elseif os(iOS) || os(tvOS) || os(watchOS) || os(visionOS)
            "ios"
        #elseif os(Windows)
            "windows"
        #else
            "linux"
        #endif
    }
}

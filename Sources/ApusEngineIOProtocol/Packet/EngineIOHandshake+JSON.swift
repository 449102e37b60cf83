import ApusJSON
import NIOCore

extension EngineIOHandshake {
    /// The `maxPayload` assumed if the open packet has none: the default of Node's engine.io, whose
    /// versions before 4.3 did not announce it.
    package static let maxPayloadWhenAbsent = 1_000_000

    /// The maximum time accepted from a server, in milliseconds: the maximum of a JavaScript timer
    /// (24.8 days). Prevents an overflow.
    private static let longestMilliseconds: Int64 = 2_147_483_647

    /// Appends the JSON object of the open packet.
    func writeJSON(into buffer: inout ByteBuffer) {
        let object: JSONValue = .object([
            "sid": .string(self.sid),
            "upgrades": .array(self.upgrades.map { .string($0) }),
            "pingInterval": .integer(Self.milliseconds(self.pingInterval)),
            "pingTimeout": .integer(Self.milliseconds(self.pingTimeout)),
            "maxPayload": .integer(Int64(self.maxPayload)),
        ])
        // Strings and integers always have a JSON form, so this cannot fail.
        if let bytes = try? JSONWriter.bytes(of: object) { buffer.writeBytes(bytes) }
    }

    /// Parses the JSON object of the open packet.
    ///
    /// Tolerates unknown members, a missing `upgrades` or `maxPayload`, times such as `25000.0`,
    /// and a `pingInterval` of 0 (python-engineio).
    init(json: ByteBuffer) throws(EngineIOError) {
        let object: JSONValue
        do throws(JSONError) {
            object = try JSONReader.read(json.readableBytesView, limits: .init(maximumDepth: 16, loneSurrogates: .replace))
        } catch {
            throw EngineIOError(.malformedPacket, message: "the open packet is not valid JSON", cause: error)
        }
        guard let sid = object["sid"]?.stringValue, !sid.isEmpty else {
            throw EngineIOError(
                .malformedPacket, message: "the open packet has no `sid`; check that the URL is that of an Engine.IO server")
        }
        self.init(
            sid: sid,
            upgrades: object["upgrades"]?.arrayValue?.compactMap { $0.stringValue } ?? [],
            pingInterval: try Self.duration(object["pingInterval"], name: "pingInterval"),
            pingTimeout: try Self.duration(object["pingTimeout"], name: "pingTimeout"),
            maxPayload: Self.maxPayloadWhenAbsent
        )
        if let maxPayload = object["maxPayload"], !maxPayload.isNull {
            guard let count = maxPayload.intValue, count > 0 else {
                throw EngineIOError(.malformedPacket, message: "`maxPayload` of the open packet must be an integer greater than 0")
            }
            self.maxPayload = count
        }
    }

    private static func duration(_ value: JSONValue?, name: String) throws(EngineIOError) -> Duration {
        guard let milliseconds = value?.doubleValue, milliseconds >= 0 else {
            throw EngineIOError(.malformedPacket, message: "`\(name)` of the open packet must be a number of milliseconds, 0 or greater")
        }
        return .milliseconds(Int64(exactly: milliseconds.rounded()).map { min($0, Self.longestMilliseconds) } ?? Self.longestMilliseconds)
    }

    private static func milliseconds(_ duration: Duration) -> Int64 {
        let (seconds, attoseconds) = duration.components
        let (whole, overflow) = seconds.multipliedReportingOverflow(by: 1000)
        guard !overflow, whole < Self.longestMilliseconds else { return Self.longestMilliseconds }
        return whole + attoseconds / 1_000_000_000_000_000
    }
}

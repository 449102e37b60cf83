import ApusJSON
import NIOCore

extension EngineIOHandshake {
    /// The bound assumed of a server that states none: the reference server's default, which its versions before 4.3 had without saying so.
    package static let maxPayloadWhenAbsent = 1_000_000

    /// The longest time taken from a server, in milliseconds: what JavaScript's timers hold (24.8 days). Anything longer would overflow ours.
    private static let longestMilliseconds: Int64 = 2_147_483_647

    /// Appends the object of the open packet.
    func writeJSON(into buffer: inout ByteBuffer) {
        let object: JSONValue = .object([
            "sid": .string(self.sid),
            "upgrades": .array(self.upgrades.map { .string($0) }),
            "pingInterval": .integer(Self.milliseconds(self.pingInterval)),
            "pingTimeout": .integer(Self.milliseconds(self.pingTimeout)),
            "maxPayload": .integer(Int64(self.maxPayload)),
        ])
        // Strings and integers always have a JSON form, so there is no error to hand on.
        if let bytes = try? JSONWriter.bytes(of: object) { buffer.writeBytes(bytes) }
    }

    /// Reads the object of the open packet.
    ///
    /// Tolerated: members that are not known, no `upgrades`, no `maxPayload`, times written as `25000.0`, a `pingInterval` of 0 (python).
    init(json: ByteBuffer) throws(EngineIOError) {
        let object: JSONValue
        do throws(JSONError) {
            object = try JSONReader.read(json.readableBytesView, limits: .init(maximumDepth: 16, loneSurrogates: .replace))
        } catch {
            throw EngineIOError(.malformedPacket, message: "an open packet that is not JSON", cause: error)
        }
        guard let sid = object["sid"]?.stringValue, !sid.isEmpty else {
            throw EngineIOError(.malformedPacket, message: "an open packet without a sid; is this an Engine.IO server?")
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
                throw EngineIOError(.malformedPacket, message: "an open packet whose maxPayload is not a positive whole number")
            }
            self.maxPayload = count
        }
    }

    private static func duration(_ value: JSONValue?, name: String) throws(EngineIOError) -> Duration {
        guard let milliseconds = value?.doubleValue, milliseconds >= 0 else {
            throw EngineIOError(.malformedPacket, message: "an open packet whose \(name) is not a number of milliseconds")
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

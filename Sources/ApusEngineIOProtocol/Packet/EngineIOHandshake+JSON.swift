import NIOCore

extension EngineIOHandshake {
    /// Appends the object of the open packet.
    func writeJSON(into buffer: inout ByteBuffer) {
        let upgrades = self.upgrades.map { "\"\($0)\"" }.joined(separator: ",")
        buffer.writeString("{\"sid\":\"\(self.sid)\",\"upgrades\":[\(upgrades)],\"pingInterval\":\(Self.milliseconds(self.pingInterval))")
        buffer.writeString(",\"pingTimeout\":\(Self.milliseconds(self.pingTimeout)),\"maxPayload\":\(self.maxPayload)}")
    }

    /// Reads the object of the open packet.
    init(json: ByteBuffer) throws(EngineIOError) {
        // Joins with ApusJSON.
        throw EngineIOError(.malformedPacket, message: "reading an open packet waits for ApusJSON")
    }

    static func milliseconds(_ duration: Duration) -> Int64 {
        let (seconds, attoseconds) = duration.components
        let (whole, overflow) = seconds.multipliedReportingOverflow(by: 1000)
        return overflow ? .max : whole + attoseconds / 1_000_000_000_000_000
    }
}

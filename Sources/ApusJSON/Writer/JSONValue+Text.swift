extension JSONValue {
    /// Returns the value as JSON text.
    ///
    /// - Parameter binary: The treatment of binary data.
    /// - Throws: ``JSONError`` for a value that cannot be written.
    public func jsonString(binary: JSONWriter.BinaryStrategy = .refuse) throws(JSONError) -> String {
        String(decoding: try JSONWriter.bytes(of: self, binary: binary), as: UTF8.self)
    }

    /// Creates a value from JSON text.
    ///
    /// - Parameters:
    ///   - jsonString: The JSON text.
    ///   - limits: The limits of the text.
    /// - Throws: ``JSONError`` for text that is not valid JSON or exceeds a limit.
    public init(jsonString: String, limits: JSONReader.Limits = .init()) throws(JSONError) {
        self = try JSONReader.read(jsonString, limits: limits)
    }
}

extension JSONValue: CustomStringConvertible {
    /// The JSON text, with binary data in base64. A value that cannot be written shows the error.
    public var description: String {
        do throws(JSONError) { return try self.jsonString(binary: .base64) } catch { return "<\(error)>" }
    }
}

extension JSONObject: CustomStringConvertible {
    /// The JSON text, with binary data in base64.
    public var description: String { JSONValue.object(self).description }
}

/// The body of a `location` message.
public struct LocationBody: Hashable, Sendable {
    /// The latitude in degrees north (WGS 84).
    public var latitude: Double
    /// The longitude in degrees east (WGS 84).
    public var longitude: Double
    /// The radius of the area in which the place is, in metres; nil if it is not known.
    public var accuracy: Double?
    /// The name of the place; nil if it is not given.
    public var name: String?
    /// The address; nil if it is not given.
    public var address: String?
    /// The origin of a forwarded message; nil for other messages. Set by the server.
    public var forwarded: ForwardedFrom?

    /// Creates a body.
    ///
    /// - Parameters:
    ///   - latitude: The latitude in degrees north (WGS 84).
    ///   - longitude: The longitude in degrees east (WGS 84).
    ///   - accuracy: The radius of the area in which the place is, in metres; nil if it is not
    ///     known.
    ///   - name: The name of the place; nil if it is not given.
    ///   - address: The address; nil if it is not given.
    ///   - forwarded: The origin of a forwarded message; nil for other messages. Set by the server.
    public init(
        latitude: Double, longitude: Double, accuracy: Double? = nil, name: String? = nil, address: String? = nil,
        forwarded: ForwardedFrom? = nil
    ) {
        self.latitude = latitude
        self.longitude = longitude
        self.accuracy = accuracy
        self.name = name
        self.address = address
        self.forwarded = forwarded
    }
}

extension LocationBody: WireObject {
    package init(from reader: WireReader) throws(WireError) {
        self.latitude = try reader.number("latitude", in: -90...90)
        self.longitude = try reader.number("longitude", in: -180...180)
        self.accuracy = try reader.numberIfPresent("accuracy", in: 0...1_000_000)
        self.name = try reader.stringIfPresent("name", minimum: 1, maximum: ChatLimits.titleLength)
        self.address = try reader.stringIfPresent("address", minimum: 1, maximum: 300)
        self.forwarded = try reader.objectIfPresent("forwarded")
    }

    package func write(to writer: inout WireWriter) {
        writer.write("latitude", self.latitude)
        writer.write("longitude", self.longitude)
        writer.write("accuracy", ifPresent: self.accuracy)
        writer.write("name", ifPresent: self.name)
        writer.write("address", ifPresent: self.address)
        writer.write("forwarded", ifPresent: self.forwarded)
    }
}

extension LocationBody: MessageBody {
    package static var kind: EventKind { .location }
    package var label: String? { self.name ?? self.address }
    package mutating func removeServerFields() { self.forwarded = nil }
}

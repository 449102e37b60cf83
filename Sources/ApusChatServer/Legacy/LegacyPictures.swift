/// The pictures that clients without an account have uploaded. They are stored in memory.
///
/// When a registration or a message refers to a picture, the picture is also stored as an upload of
/// the account. The pictures in memory are removed after an hour.
struct LegacyPictures: Sendable {
    struct Picture: Hashable, Sendable {
        var bytes: [UInt8]
        var type: String
    }

    /// The maximum size of a picture, in bytes.
    static let pictureBytes = 1 << 20
    /// The maximum total size of all pictures, in bytes.
    private let maximumBytes: Int
    private let lifetime: Int64
    private var pictures: [String: (picture: Picture, expiresAt: Int64)] = [:]
    private var bytes = 0

    /// - Parameter lifetime: The time after which a picture is removed, in milliseconds.
    init(maximumBytes: Int = 32 << 20, lifetime: Int64 = 3_600_000) {
        self.maximumBytes = maximumBytes
        self.lifetime = lifetime
    }

    /// Adds a picture.
    ///
    /// - Parameter id: A random text that cannot be guessed.
    /// - Returns: The path of the picture; nil if the total size would be exceeded.
    mutating func add(_ picture: Picture, id: String, at time: Int64) -> String? {
        self.sweep(at: time)
        guard picture.bytes.count <= Self.pictureBytes, picture.bytes.count <= self.maximumBytes - self.bytes else { return nil }
        let name = "\(id).\(LegacyPaths.fileExtension(of: picture.type))"
        self.remove(name)
        self.pictures[name] = (picture, time + self.lifetime)
        self.bytes += picture.bytes.count
        return "images/" + name
    }

    /// Returns the picture whose path has this last component; nil if no picture matches.
    mutating func picture(named name: String, at time: Int64) -> Picture? {
        self.sweep(at: time)
        return self.pictures[name]?.picture
    }

    /// Returns the picture at a path; nil if the path names no picture.
    mutating func picture(at path: String, at time: Int64) -> Picture? {
        path.split(separator: "/").last.flatMap { self.picture(named: String($0), at: time) }
    }

    private mutating func sweep(at time: Int64) {
        for (name, entry) in self.pictures where entry.expiresAt <= time || entry.expiresAt > time + self.lifetime { self.remove(name) }
    }

    private mutating func remove(_ name: String) {
        guard let entry = self.pictures.removeValue(forKey: name) else { return }
        self.bytes -= entry.picture.bytes.count
    }
}

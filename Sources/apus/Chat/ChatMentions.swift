import ApusChatProtocol

/// Finds the mentions in a text: `@` and the name of a member, and `@all`.
enum ChatMentions {
    /// Returns the ranges of the mentions, in scalars, as the wire counts them.
    static func entities(in text: String, members: [UserName]) -> [TextEntity] {
        let scalars = Array(text.unicodeScalars)
        var found: [TextEntity] = []
        var place = 0
        while place < scalars.count {
            defer { place += 1 }
            guard scalars[place] == "@", place == 0 || !self.isPart(scalars[place - 1]) else { continue }
            var end = place + 1
            while end < scalars.count, self.isPart(scalars[end]) { end += 1 }
            // A period or hyphen at the end belongs to the sentence.
            while end > place + 1, scalars[end - 1] == "." || scalars[end - 1] == "-" { end -= 1 }
            guard end > place + 1 else { continue }
            let name = String(String.UnicodeScalarView(scalars[(place + 1)..<end]))
            let (offset, length) = (Int64(place), Int64(end - place))
            if name.lowercased() == "all" {
                found.append(TextEntity(kind: .all, offset: offset, length: length))
            } else if let user = UserName(name), members.contains(user) {
                found.append(TextEntity(kind: .mention, offset: offset, length: length, user: user))
            }
            place = end - 1
        }
        return found
    }

    /// Whether a scalar may be part of a name.
    private static func isPart(_ scalar: Unicode.Scalar) -> Bool {
        scalar.properties.isAlphabetic || scalar.properties.numericType != nil || scalar == "." || scalar == "_" || scalar == "-"
    }
}

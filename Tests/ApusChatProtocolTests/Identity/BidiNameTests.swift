import ApusChatProtocol
import ApusSeededRandom
import Testing

/// Names of letters of both directions, compared with the six conditions of RFC 5893 section 2.
@Suite("Directions of names (RFC 5893)")
struct BidiNameTests {
    private enum Class { case left, right, arabic, europeanNumber, arabicNumber, separator, mark, other }

    /// Letters whose class is in UAX 9, DerivedBidiClass.txt, and which names can contain.
    private static let classes: [(Unicode.Scalar, Class)] = [
        ("a", .left), ("z", .left), ("鸟", .left), ("ก", .left), ("א", .right), ("ת", .right), ("\u{7CA}", .right), ("م", .arabic),
        ("ی", .arabic), ("\u{710}", .arabic), ("0", .europeanNumber), ("9", .europeanNumber), ("\u{6F3}", .europeanNumber),
        ("\u{663}", .arabicNumber), ("-", .separator), (".", .separator), ("_", .other), ("\u{5B0}", .mark), ("\u{64E}", .mark),
        ("\u{E31}", .mark),
    ]

    private static func bidiClass(_ scalar: Unicode.Scalar) -> Class { self.classes.first { $0.0 == scalar }?.1 ?? .left }

    /// The rule, condition by condition. It applies to labels with a character of R, AL or AN.
    private static func isAllowed(_ classes: [Class]) -> Bool {
        guard classes.contains(where: { [.right, .arabic, .arabicNumber].contains($0) }) else { return true }
        guard let first = classes.first else { return true }
        let end = classes.last { $0 != .mark }
        switch first {
        case .right, .arabic:
            let second = !classes.contains(.left)
            let third = end.map { [.right, .arabic, .europeanNumber, .arabicNumber].contains($0) } ?? false
            let fourth = !(classes.contains(.europeanNumber) && classes.contains(.arabicNumber))
            return second && third && fourth
        case .left:
            let fifth = !classes.contains { [.right, .arabic, .arabicNumber].contains($0) }
            let sixth = end.map { [.left, .europeanNumber].contains($0) } ?? false
            return fifth && sixth
        default: return false  // the first condition
        }
    }

    @Test func namesFollowTheSixConditions() {
        var generator = SplitMix64(state: 83)
        var accepted = 0, refused = 0
        for _ in 0..<40_000 {
            let scalars = (0..<Int.random(in: 1...5, using: &generator)).compactMap { _ in Self.classes.randomElement(using: &generator)?.0
            }
            // Conditions of names beyond those of directions.
            guard let first = scalars.first, let last = scalars.last, !"-._".unicodeScalars.contains(first),
                !"-._".unicodeScalars.contains(last), Self.bidiClass(first) != .mark
            else { continue }
            var text = String.UnicodeScalarView()
            text.append(contentsOf: scalars)
            let isAllowed = Self.isAllowed(scalars.map(Self.bidiClass))
            #expect((UserName(String(text)) != nil) == isAllowed, "\(scalars.map { String($0.value, radix: 16) })")
            if isAllowed { accepted += 1 } else { refused += 1 }
        }
        #expect(accepted > 3_000 && refused > 3_000)
    }

    /// RFC 5893 section 2, the reasons of its conditions: names that would be shown in another
    /// order than they are written in.
    @Test(arguments: ["abאב", "אבab", "1א", "א1\u{663}", "אב-", "\u{663}א", "a\u{663}", "אaב", "\u{6F3}م\u{663}", "_א", "\u{5B0}א"])
    func namesOfTwoDirectionsAreRefused(text: String) { #expect(UserName(text) == nil) }

    @Test(arguments: [
        "אב1", "אב\u{663}", "א-ב", "א.ב1", "אב\u{5B0}", "מֹשֶׁה", "محمد_1", "م\u{64E}", "a-1", "1a", "\u{6F3}a", "ნინო", "ก\u{E31}",
    ])
    func namesOfOneDirectionAreNames(text: String) { #expect(UserName(text) != nil) }
}

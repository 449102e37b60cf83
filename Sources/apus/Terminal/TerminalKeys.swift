/// A key of a terminal.
enum TerminalKey: Equatable, Sendable {
    /// A character to insert, typed or pasted.
    case character(Unicode.Scalar)
    case enter, backspace, delete
    case left, right, wordLeft, wordRight, home, end
    case up, down
    /// Ctrl and a letter, given in lower case: `control("u")`.
    case control(Character)
}

/// Decodes the bytes of a terminal into keys: UTF-8, control characters and the escape sequences of
/// common terminals.
///
/// The bytes may arrive in pieces of any size. An unknown sequence is consumed and ignored. An
/// invalid byte becomes U+FFFD.
struct TerminalKeyDecoder: Sendable {
    private enum State {
        case ground
        /// The first bytes of a character, and its length in bytes.
        case character([UInt8], length: Int)
        /// After ESC.
        case escape
        /// After `ESC [`, with the parameters so far.
        case controlSequence([UInt8])
        /// After `ESC O`.
        case singleShift
    }

    /// Parameters of a control sequence beyond this number of bytes are dropped.
    private static let maximumParameters = 16
    private var state: State = .ground

    mutating func received(_ byte: UInt8) -> [TerminalKey] {
        switch self.state {
        case .ground: return self.inGround(byte)
        case .character(var bytes, let length):
            guard byte & 0xc0 == 0x80 else {
                self.state = .ground
                return [.character("\u{fffd}")] + self.inGround(byte)
            }
            bytes.append(byte)
            guard bytes.count == length else {
                self.state = .character(bytes, length: length)
                return []
            }
            self.state = .ground
            let scalars = String(decoding: bytes, as: UTF8.self).unicodeScalars
            return [.character(scalars.count == 1 ? scalars.first ?? "\u{fffd}" : "\u{fffd}")]
        case .escape:
            switch byte {
            case UInt8(ascii: "["): self.state = .controlSequence([])
            case UInt8(ascii: "O"): self.state = .singleShift
            default:
                self.state = .ground
                switch byte {
                case UInt8(ascii: "b"): return [.wordLeft]
                case UInt8(ascii: "f"): return [.wordRight]
                default: return self.inGround(byte)
                }
            }
            return []
        case .controlSequence(var parameters):
            switch byte {
            case 0x20...0x3f:
                if parameters.count < Self.maximumParameters { parameters.append(byte) }
                self.state = .controlSequence(parameters)
                return []
            case 0x40...0x7e:
                self.state = .ground
                return Self.key(final: byte, parameters).map { [$0] } ?? []
            default:
                self.state = .ground
                return self.inGround(byte)
            }
        case .singleShift:
            self.state = .ground
            return Self.key(final: byte, []).map { [$0] } ?? []
        }
    }

    private mutating func inGround(_ byte: UInt8) -> [TerminalKey] {
        switch byte {
        case 0x1b: self.state = .escape
        case 0x08, 0x7f: return [.backspace]
        case 0x0a, 0x0d: return [.enter]
        case 0x09: return [.character("\t")]
        case 0x01...0x1a: return [.control(Character(Unicode.Scalar(byte + 0x60)))]
        case 0x00, 0x1c...0x1f: break
        case 0x20..<0x7f: return [.character(Unicode.Scalar(byte))]
        case 0xc2...0xdf: self.state = .character([byte], length: 2)
        case 0xe0...0xef: self.state = .character([byte], length: 3)
        case 0xf0...0xf4: self.state = .character([byte], length: 4)
        default: return [.character("\u{fffd}")]
        }
        return []
    }

    /// Returns the key for the final byte of a sequence; the parameter `;5` means Ctrl, `;3` Alt.
    private static func key(final: UInt8, _ parameters: [UInt8]) -> TerminalKey? {
        let numbers = parameters.split(separator: UInt8(ascii: ";")).map { String(decoding: $0, as: UTF8.self) }
        let isByWord = numbers.count > 1 && (numbers[1] == "5" || numbers[1] == "3")
        switch final {
        case UInt8(ascii: "A"): return .up
        case UInt8(ascii: "B"): return .down
        case UInt8(ascii: "C"): return isByWord ? .wordRight : .right
        case UInt8(ascii: "D"): return isByWord ? .wordLeft : .left
        case UInt8(ascii: "H"): return .home
        case UInt8(ascii: "F"): return .end
        case UInt8(ascii: "~"):
            switch numbers.first {
            case "1", "7": return .home
            case "4", "8": return .end
            case "3": return .delete
            default: return nil
            }
        default: return nil
        }
    }
}

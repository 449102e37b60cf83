@testable import ApusChatTerminal

/// A terminal that performs the control sequences of frames on a grid of cells.
struct VirtualTerminal {
    private struct Cell: Equatable {
        var text = " "
        var style = "0"
    }
    let width: Int
    let height: Int
    private var cells: [[Cell]]
    private var row = 0
    private var column = 0
    private var style = "0"
    private(set) var cursor: (row: Int, column: Int)?
    /// The received sequences that frames do not use.
    private(set) var unknown: [String] = []
    /// Whether a synchronized update has started and not ended.
    private(set) var isUpdating = false

    init(width: Int, height: Int) {
        (self.width, self.height) = (width, height)
        self.cells = Array(repeating: Array(repeating: Cell(), count: width), count: height)
    }

    /// The rows as text. The second cell of a wide character is empty.
    var text: [String] { self.cells.map { $0.map(\.text).joined() } }

    /// The styles of a row, one for each cell with a character.
    func styles(row: Int) -> [String] { self.cells[row].filter { !$0.text.isEmpty }.map(\.style) }

    mutating func write(_ output: String) {
        var rest = Substring(output).unicodeScalars
        while !rest.isEmpty {
            let run = rest.prefix { $0 != "\u{1B}" }
            for character in String(run) { self.put(character) }
            rest = rest[run.endIndex...].dropFirst(2)
            guard !rest.isEmpty else { return }
            let parameters = rest.prefix { !$0.properties.isAlphabetic }
            guard parameters.endIndex < rest.endIndex else {
                self.unknown.append(String(rest))
                return
            }
            self.perform(String(parameters), Character(rest[parameters.endIndex]))
            rest = rest[parameters.endIndex...].dropFirst()
        }
    }

    private mutating func put(_ character: Character) {
        let width = TerminalText.width(character)
        guard width > 0 else {
            if self.column > 0 { self.cells[self.row][self.column - 1].text.append(character) }
            return
        }
        // The terminal does not wrap, so that a character beyond the row overwrites its last cell.
        let place = min(self.column, self.width - width)
        guard place >= 0 else { return }
        self.cells[self.row][place] = Cell(text: String(character), style: self.style)
        if width == 2 { self.cells[self.row][place + 1] = Cell(text: "", style: self.style) }
        self.column = place + width
    }

    private mutating func perform(_ parameters: String, _ final: Character) {
        let numbers = parameters.split(separator: ";").map { Int($0) ?? -1 }
        switch (final, parameters) {
        case ("h", "?2026"): self.isUpdating = true
        case ("l", "?2026"): self.isUpdating = false
        case ("l", "?25"): self.cursor = nil
        case ("h", "?25"): self.cursor = (self.row, self.column)
        case ("m", _): self.style = parameters
        case ("J", "2"):
            self.cells = Array(repeating: Array(repeating: Cell(), count: self.width), count: self.height)
        case ("K", "2"): self.cells[self.row] = Array(repeating: Cell(), count: self.width)
        case ("H", _) where numbers.count == 2 && (1...self.height).contains(numbers[0]) && (1...max(1, self.width)).contains(numbers[1]):
            (self.row, self.column) = (numbers[0] - 1, numbers[1] - 1)
        case ("G", _) where numbers.count == 1 && (1...self.width + 1).contains(numbers[0]): self.column = numbers[0] - 1
        default: self.unknown.append("\(parameters)\(final)")
        }
    }
}

import ApusChatProtocol
import ApusChatReference
import ApusJSON
import Foundation
import Testing

/// `docs/chat-wire.md` as its reader sees it: the rows of its tables, its examples, its links, and
/// the facts of its prose.
@Suite("The page of the wire")
struct WirePageTests {
    /// A section of the page: its title, its rows and its examples.
    struct Section: Sendable, CustomTestStringConvertible {
        var title: String
        var tables: [[[String]]] = []
        var examples: [String] = []
        var text = ""
        var testDescription: String { self.title }
    }

    static let page = Docs.text("chat-wire.md")

    static let sections: [Section] = {
        var sections: [Section] = []
        var section = Section(title: "")
        var example: String?
        var isInTable = false
        for line in page.split(separator: "\n", omittingEmptySubsequences: false).map(String.init) {
            if let open = example {
                if line == "```" {
                    section.examples.append(open)
                    example = nil
                } else {
                    example = open + line + "\n"
                }
            } else if line == "```json" {
                example = ""
            } else if line.hasPrefix("#") {
                sections.append(section)
                section = Section(title: String(line.drop { $0 == "#" || $0 == " " }))
            } else if line.hasPrefix("|") {
                let cells = line.dropFirst().dropLast().split(separator: "|", omittingEmptySubsequences: false).map {
                    $0.trimmingCharacters(in: .whitespaces)
                }
                if !isInTable { section.tables.append([]) }
                isInTable = true
                if !cells.allSatisfy({ $0.allSatisfy { $0 == "-" } }) { section.tables[section.tables.count - 1].append(cells) }
            } else {
                section.text += line + "\n"
            }
            if !line.hasPrefix("|") { isInTable = false }
        }
        return sections + [section]
    }()

    /// The sections of verbs, pushes and kinds, whose first object has an example.
    static let objects = sections.filter { !$0.examples.isEmpty && $0.tables.first?.first?.first == "field" }

    private static func name(_ title: String) -> String { title.filter { $0 != "`" } }

    /// Returns the rows of a table of fields without the heading row.
    private static func fields(_ table: [[String]]) -> [(name: String, isRequired: Bool, type: String)] {
        table.dropFirst().map { row in
            let name = row[0].filter { $0 != "`" }
            return (name.hasSuffix("?") ? String(name.dropLast()) : name, !name.hasSuffix("?"), row[1])
        }
    }

    @Test func everyRowHasTheCellsOfItsTable() {
        for section in Self.sections {
            for table in section.tables {
                for row in table { #expect(row.count == table[0].count, "\(section.title): \(row)") }
                // The head of the table of types has an empty cell.
                for row in table.dropFirst() { #expect(!row[0].isEmpty && !row[1].isEmpty, "\(section.title): \(row)") }
            }
        }
        #expect(Self.objects.count > 100)
    }

    @Test func everyLinkHasItsHeading() {
        let headings = Set(Self.sections.map { $0.title.lowercased() })
        var links = 0
        for part in Self.page.components(separatedBy: "](#").dropFirst() {
            let target = String(part.prefix { $0 != ")" })
            links += 1
            #expect(headings.contains(target), "\(target)")
        }
        #expect(links > 30)
    }

    /// Each example has the required fields of its table, and no field that is not in the table.
    @Test(arguments: objects)
    func anExampleHasTheFieldsOfItsTable(section: Section) throws {
        let tables = section.tables.filter { $0[0][0] == "field" }
        // A request without fields has an example and no table.
        for (table, text) in zip(tables, section.examples.suffix(tables.count)) {
            let example = try #require(try JSONReader.read(text).objectValue, "\(section.title)")
            let fields = Self.fields(table)
            for field in fields where field.isRequired { #expect(example[field.name] != nil, "\(section.title): \(field.name)") }
            for member in example {
                let field = try #require(fields.first { $0.name == member.key }, "\(section.title): \(member.key)")
                #expect(Self.isOfType(member.value, field.type), "\(section.title): \(member.key) is not \(field.type)")
            }
        }
    }

    /// Returns whether a value has a type of the page.
    private static func isOfType(_ value: JSONValue, _ type: String) -> Bool {
        if type.hasPrefix("list of ") {
            guard let elements = value.arrayValue, let end = type.range(of: ", at most ", options: .backwards),
                let most = Int(type[end.upperBound...].filter { $0 != "," })
            else { return false }
            let element = String(type.dropFirst("list of ".count)[..<end.lowerBound])
            return elements.count <= most && elements.allSatisfy { self.isOfType($0, element) }
        }
        if type.hasPrefix("string") {
            let bounds = type.split(separator: " ").compactMap { Int($0.filter { $0 != "," }) }
            guard let count = value.stringValue?.unicodeScalars.count, let most = bounds.last else { return false }
            return count <= most && (bounds.count < 2 || count >= bounds[0])
        }
        if type.hasPrefix("integer") || type == "seq" || type == "time" {
            guard case .integer(let number) = value else { return false }
            let bounds = type.split(separator: " ").compactMap { Int64($0.filter { $0 != "," }) }
            return bounds.count == 2 ? (bounds[0]...bounds[1]).contains(number) : number >= (type == "seq" ? 1 : 0)
        }
        if type.hasPrefix("number") { return value.doubleValue != nil }
        if type.hasPrefix("[") || type == "object" { return value.objectValue != nil }
        if type.hasPrefix("`") { return value.stringValue.map { type.contains("`\($0)`") } ?? false }
        guard type != "Boolean" else { return value == true || value == false }
        guard let text = value.stringValue else { return false }
        switch type {
        case "user name": return UserName(text)?.rawValue == text
        case "conversation": return ConversationID(text) != nil
        case "device id": return DeviceID(text) != nil
        case "client id": return ClientID(text) != nil
        case "blob id": return BlobID(text) != nil
        case "blob id or empty": return text.isEmpty || BlobID(text) != nil
        case "link code": return LinkCode(text) != nil
        case "token": return PageToken(text) != nil
        case "kind": return EventKind(wireText: text) != nil
        default: return false
        }
    }

    // MARK: Tables at the end

    @Test func theErrorsHaveTheirStatusAndRetry() throws {
        let table = try #require(Self.sections.last { $0.title == "Errors" }?.tables.first)
        #expect(table.count - 1 == ChatError.Code.allCases.count - 1)
        for row in table.dropFirst() {
            let code = try #require(ChatError.Code(rawValue: Self.name(row[0])), "\(row[0])")
            #expect(row[1] == String(code.httpStatus) && row[2] == (code.isTemporary ? "yes" : "no"), "\(row[0])")
        }
    }

    /// The numbers of the page, each in the row that a reader would look for.
    @Test func theLimitsMatchTheCode() throws {
        let rows = try #require(Self.sections.last { $0.title == "Limits" }?.tables.first).dropFirst()
        let limits = Dictionary(uniqueKeysWithValues: rows.map { ($0[0], Int64($0[1].filter { $0 != "," })) })
        let expected: [(String, Int64)] = [
            ("request", 131_072), ("answer, push", 262_144), ("pending requests of a connection", 64),
            ("text of a message, draft", 8_000), ("caption", 2_000), ("entities of a text", 200), ("mentions of a message", 50),
            ("body of an application's kind", 32_768), ("options of a poll", 20), ("messages of a bundle and of a `forward`", 100),
            ("different reactions to a message", 20), ("reactions of a user to a message", 3), ("members of a group", 10_000),
            ("users named by a request", 100), ("devices of a user", 20), ("events of a page", 200), ("heads of a page", 200),
            ("password", 1_024), ("time for which the answer to a changing request is kept", 7 * 86_400),
        ]
        for (name, value) in expected { #expect(limits[name] == value, "\(name)") }
    }

    // MARK: Prose

    @Test func theProseHasTheNumbersOfTheCode() {
        let prose = Self.page.prefix(upTo: Self.page.range(of: MarkdownPage.mark)?.lowerBound ?? Self.page.startIndex)
            .split { $0.isWhitespace }.joined(separator: " ")
        for fact in [
            "An answer is never above \(ChatLimits.answerBytes / 1_024) KiB", "same answer for \(ChatLimits.answerSeconds / 86_400) days",
            "1 to \(ChatLimits.nameLength) Unicode scalars", "An opaque text of \(Base32.length) characters",
        ] {
            #expect(prose.contains(fact), "\(fact)")
        }
        for verb in ChatReference.liveVerbs { #expect(prose.contains("`\(verb)`"), "\(verb)") }
    }

    /// Each verb that the errors of another section name exists, and so does each error.
    @Test func namedErrorsExist() {
        for section in Self.sections {
            for line in section.text.split(separator: "\n") where line.hasPrefix("Errors: ") {
                let names = line.dropFirst("Errors: ".count).dropLast().split(separator: ",")
                #expect(Set(names).count == names.count, "\(section.title)")
                for name in names {
                    let code = Self.name(name.trimmingCharacters(in: .whitespaces))
                    #expect(ChatError.Code(rawValue: code) != nil, "\(section.title): \(code)")
                }
            }
        }
    }
}

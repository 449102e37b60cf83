import ApusChatProtocol

/// Generates the reference in `docs/chat-wire.md`.
package enum MarkdownPage {
    /// The comment after which the generated part begins.
    package static let mark =
        "<!-- Generated from Sources/ApusChatReference: APUS_UPDATE_DOCS=1 with the ApusChatProtocolTests rewrites it. -->"

    /// The generated text, which follows the mark.
    package static var text: String {
        var page = Page()
        self.writeObjects(into: &page)
        self.writeBodies(into: &page)
        for group in ChatReference.groups { self.write(group, into: &page) }
        self.writePushes(into: &page)
        self.writeRoutes(into: &page)
        self.writeErrors(into: &page)
        self.writeLimits(into: &page)
        return page.text
    }

    private struct Page {
        var text = ""

        mutating func line(_ line: String = "") { self.text += line + "\n" }

        mutating func heading(_ level: Int, _ title: String) {
            self.line()
            self.line(String(repeating: "#", count: level) + " " + title)
            self.line()
        }

        mutating func fields(_ fields: [Field]) {
            guard !fields.isEmpty else { return }
            self.line("| field | type | |")
            self.line("|---|---|---|")
            for field in fields {
                self.line("| `\(field.name)\(field.isRequired ? "" : "?")` | \(MarkdownPage.name(of: field.type)) | \(field.text) |")
            }
            self.line()
        }

        mutating func example(_ text: String) {
            self.line("```json")
            self.line(text)
            self.line("```")
            self.line()
        }
    }

    private static func writeObjects(into page: inout Page) {
        page.heading(2, "Objects")
        for shape in ChatReference.shapes {
            page.heading(3, shape.name)
            page.line(shape.text)
            page.line()
            page.fields(shape.fields)
        }
    }

    private static func writeBodies(into page: inout Page) {
        page.heading(2, "Kinds and their bodies")
        page.line("`recall`, `poll.close` and `hidden` have no body.")
        for shape in ChatReference.bodies {
            page.heading(3, "Kind `\(shape.name.replacing(", ", with: "`, `"))`")
            page.line(shape.text)
            page.line()
            page.fields(shape.fields)
            page.example(shape.example)
        }
    }

    private static func write(_ group: VerbGroup, into page: inout Page) {
        page.heading(2, group.title)
        for verb in group.verbs {
            page.heading(3, "`\(verb.name)`")
            page.line(verb.text)
            page.line()
            page.fields(verb.request)
            page.example(verb.examples.request)
            page.line(verb.answer.isEmpty ? "The answer is an empty object." : "Answer:")
            page.line()
            page.fields(verb.answer)
            if !verb.answer.isEmpty { page.example(verb.examples.answer) }
            if !verb.errors.isEmpty {
                page.line("Errors: " + verb.errors.map { "`\($0.rawValue)`" }.joined(separator: ", ") + ".")
                page.line()
            }
        }
    }

    private static func writePushes(into page: inout Page) {
        page.heading(2, "Pushes")
        for push in ChatReference.pushes {
            page.heading(3, "Push `\(push.name)`")
            page.line(push.text)
            page.line()
            page.fields(push.fields)
            page.example(push.example)
        }
    }

    private static func writeRoutes(into page: inout Page) {
        page.heading(2, "Routes of accounts")
        for route in ChatReference.routes {
            page.heading(3, "`\(route.method.rawValue.uppercased()) \(route.path)`")
            page.line(route.text)
            page.line()
            page.fields(route.request)
            if !route.request.isEmpty { page.example(route.examples.request) }
            page.line(route.answer.isEmpty ? "The answer is an empty object." : "Answer:")
            page.line()
            page.fields(route.answer)
            if !route.answer.isEmpty { page.example(route.examples.answer) }
            if !route.errors.isEmpty {
                page.line("Errors: " + route.errors.map { "`\($0.rawValue)`" }.joined(separator: ", ") + ".")
                page.line()
            }
        }
    }

    private static func writeErrors(into page: inout Page) {
        page.heading(2, "Errors")
        page.line("| code | HTTP | retry | |")
        page.line("|---|---|---|---|")
        for (code, text) in ChatReference.errors {
            page.line("| `\(code.rawValue)` | \(code.httpStatus) | \(code.isTemporary ? "yes" : "no") | \(text) |")
        }
        page.line()
        page.line("Every request can return " + Verb.commonErrors.map { "`\($0.rawValue)`" }.joined(separator: ", ") + ".")
    }

    private static func writeLimits(into page: inout Page) {
        page.heading(2, "Limits")
        page.line("| value | maximum | unit |")
        page.line("|---|---|---|")
        for limit in ChatReference.limits { page.line("| \(limit.text) | \(self.grouped(limit.value)) | \(limit.unit) |") }
    }

    /// Returns the name of a type in the tables.
    package static func name(of type: FieldType) -> String {
        switch type {
        case .string(let range) where range.lowerBound == 0: "string, at most \(self.grouped(Int64(range.upperBound)))"
        case .string(let range): "string, \(range.lowerBound) to \(self.grouped(Int64(range.upperBound)))"
        case .user: "user name"
        case .conversation: "conversation"
        case .client: "client id"
        case .device: "device id"
        case .blob: "blob id"
        case .blobOrEmpty: "blob id or empty"
        case .link: "link code"
        case .token: "token"
        case .kind: "kind"
        case .seq: "seq"
        case .integer(let range) where range == 0...WireReader.largestInteger: "integer"
        case .integer(let range): "integer, \(self.grouped(range.lowerBound)) to \(self.grouped(range.upperBound))"
        case .number(let range): "number, \(range.lowerBound) to \(range.upperBound)"
        case .time: "time"
        case .bool: "Boolean"
        case .any: "object"
        case .choice(let values): values.map { "`\($0)`" }.joined(separator: ", ")
        case .shape(let name): "[\(name)](#\(name.lowercased()))"
        case .list(let element, let maximum): "list of \(self.name(of: element)), at most \(self.grouped(Int64(maximum)))"
        }
    }

    /// Returns a number with commas between groups of three digits.
    static func grouped(_ number: Int64) -> String {
        var text = ""
        for (index, digit) in String(number.magnitude).reversed().enumerated() {
            if index > 0, index.isMultiple(of: 3) { text.append(",") }
            text.append(digit)
        }
        return (number < 0 ? "-" : "") + String(text.reversed())
    }
}

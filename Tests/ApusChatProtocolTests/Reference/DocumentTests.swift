import ApusChatProtocol
import ApusChatReference
import ApusJSON
import Foundation
import Testing

/// Compares the documents with the descriptions, or writes them if `APUS_UPDATE_DOCS` is 1.
@Suite("Documents of the wire")
struct DocumentTests {
    private static let updates = ProcessInfo.processInfo.environment["APUS_UPDATE_DOCS"] == "1"

    private func compare(_ expected: String, with name: String) throws {
        let file = Docs.folder.appendingPathComponent(name)
        if Self.updates { try expected.write(to: file, atomically: true, encoding: .utf8) }
        let present = try String(contentsOf: file, encoding: .utf8)
        #expect(present == expected, "docs/\(name) differs from the code: run this test with APUS_UPDATE_DOCS=1")
    }

    @Test func pageHasTheDescriptionsOfTheCode() throws {
        let page = try String(contentsOf: Docs.folder.appendingPathComponent("chat-wire.md"), encoding: .utf8)
        let mark = try #require(page.range(of: MarkdownPage.mark + "\n"))
        try self.compare(String(page[..<mark.upperBound]) + MarkdownPage.text, with: "chat-wire.md")
    }

    @Test func openAPIDocumentMatchesTheCode() throws {
        let text = OpenAPIDocument.text
        #expect(try JSONReader.read(text) == OpenAPIDocument.value)
        try self.compare(text, with: "openapi.json")
    }

    @Test func everyRouteHasItsOperation() throws {
        let paths = try #require(OpenAPIDocument.value["paths"]?.objectValue)
        for route in OpenAPIDocument.routes {
            let operation = try #require(paths[route.path]?[route.method.rawValue], "\(route.path)")
            #expect(operation["responses"]?["200"] != nil)
            #expect((operation["security"] == nil) == route.needsSession)
        }
        #expect(paths["/api/chat/send"] != nil && paths["/api/chat/hello"] == nil)
        let ids = paths.flatMap { $0.value.objectValue?.compactMap { $0.value["operationId"]?.stringValue } ?? [] }
        #expect(Set(ids).count == ids.count)
    }

    @Test func everyReferenceOfTheDocumentHasATarget() throws {
        let components = try #require(OpenAPIDocument.value["components"])
        func check(_ value: JSONValue) {
            if let target = value["$ref"]?.stringValue {
                let path = target.split(separator: "/").map(String.init)
                #expect(path.count == 4 && components[path[2]]?[path[3]] != nil, "\(target)")
            }
            for member in value.objectValue ?? [:] { check(member.value) }
            for element in value.arrayValue ?? [] { check(element) }
        }
        check(OpenAPIDocument.value)
    }
}

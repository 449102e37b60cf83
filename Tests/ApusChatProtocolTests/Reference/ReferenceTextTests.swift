import ApusChatProtocol
import ApusChatReference
import ApusJSON
import Testing

/// The generated texts: the names of types, the sections of the page, and the operations of the
/// OpenAPI document.
@Suite("Texts of the reference")
struct ReferenceTextTests {
    // MARK: Types

    @Test(
        arguments: [
            (.string(50), "string, at most 50"), (.string(8_000), "string, at most 8,000"), (.words(100), "string, 1 to 100"),
            (.string(8...1_024), "string, 8 to 1,024"), (.user, "user name"), (.conversation, "conversation"), (.client, "client id"),
            (.device, "device id"), (.blob, "blob id"), (.blobOrEmpty, "blob id or empty"), (.link, "link code"), (.token, "token"),
            (.kind, "kind"), (.seq, "seq"), (.count, "integer"), (.integer(1...9_007_199_254_740_991), "seq"),
            (.integer(0...999), "integer, 0 to 999"), (.integer(1...100_000), "integer, 1 to 100,000"),
            (.integer(-1_234_567...1_099_511_627_776), "integer, -1,234,567 to 1,099,511,627,776"),
            (.number(-90...90.5), "number, -90.0 to 90.5"),
            (.time, "time"), (.bool, "Boolean"), (.any, "object"), (.choice(["a", "b"]), "`a`, `b`"), (.shape("User"), "[User](#user)"),
            (.list(.user, 100), "list of user name, at most 100"), (.list(.words(40), 10_000), "list of string, 1 to 40, at most 10,000"),
            (.list(.list(.seq, 2), 3), "list of list of seq, at most 2, at most 3"),
            (.list(.shape("ReactionCount"), 20), "list of [ReactionCount](#reactioncount), at most 20"),
        ] as [(FieldType, String)])
    func aTypeHasItsName(type: FieldType, name: String) { #expect(MarkdownPage.name(of: type) == name) }

    /// The value that stands for those of later versions is not listed.
    @Test func aChoiceHasTheKnownValues() {
        #expect(FieldType.choice(CallMedia.self) == .choice(["audio", "video"]))
        #expect(FieldType.choice(Audience.self) == .choice(["all", "contacts", "none"]))
        #expect(FieldType.choice(ConversationKind.self) == .choice(["self", "pair", "group", "channel"]))
    }

    // MARK: Verbs

    /// The verbs that only read, or that the server does not store. All others carry an id, and
    /// their retries get the first answer.
    @Test func theOtherVerbsChangeData() {
        let reading: Set<String> = [
            "hello", "sync", "history", "mark", "typing", "subscribe", "readers", "reactions", "scheduled", "conversation.info",
            "directory",
            "members", "link.list", "link.info", "settings", "users", "people", "contacts", "search", "call.servers", "signal", "devices",
        ]
        #expect(Set(ChatReference.verbs.filter { !$0.isChanging }.map(\.name)) == reading)
    }

    @Test func eachVerbIsInOneGroup() {
        #expect(Set(ChatReference.groups.map(\.title)).count == ChatReference.groups.count)
        #expect(ChatReference.groups.allSatisfy { !$0.verbs.isEmpty && !$0.title.isEmpty })
        #expect(ChatReference.verbs.count == 65)
    }

    /// Errors are not repeated, and never the code for those of later versions.
    @Test func theErrorsOfAVerbAreListedOnce() {
        for verb in ChatReference.verbs {
            #expect(Set(verb.errors).count == verb.errors.count, "\(verb.name)")
            #expect(!verb.errors.contains(.unknown), "\(verb.name)")
        }
        #expect(!Verb.commonErrors.contains(.unknown) && Set(Verb.commonErrors).count == Verb.commonErrors.count)
    }

    @Test func aPushWithAFeatureSaysSo() {
        let features = ["mark": "receipts", "presence": "presence", "typing": "typing", "signal": "calls"]
        for push in ChatReference.pushes {
            let sentence = features[push.name].map { "Only for clients with the feature `\($0)`." }
            #expect(push.text.contains("Only for clients") == (sentence != nil), "\(push.name)")
            if let sentence { #expect(push.text.hasSuffix(" " + sentence), "\(push.name)") }
        }
    }

    /// A sentence of the reference begins with a capital letter and ends with a full stop.
    @Test func descriptionsAreSentences() {
        var texts = ChatReference.verbs.map { ($0.name, $0.text) } + ChatReference.routes.map { ($0.path, $0.text) }
        texts += ChatReference.pushes.map { ($0.name, $0.text) } + ChatReference.errors.map { ($0.code.rawValue, $0.text) }
        texts += (ChatReference.shapes + ChatReference.bodies).map { ($0.name, $0.text) }
        for object in DescribedObject.all { texts += object.fields.map { ("\(object.name).\($0.name)", $0.text) } }
        for (name, text) in texts {
            #expect(text.hasSuffix(".") && !text.contains("  ") && !text.contains("\n") && !text.contains("|"), "\(name): \(text)")
            #expect(text.first.map { $0.isUppercase || $0 == "`" } == true, "\(name): \(text)")
        }
    }

    // MARK: The page

    @Test func thePageHasASectionForEachName() {
        let lines = MarkdownPage.text.split(separator: "\n", omittingEmptySubsequences: false)
        var titles = ChatReference.verbs.map { "### `\($0.name)`" } + ChatReference.pushes.map { "### Push `\($0.name)`" }
        titles +=
            ChatReference.routes.map { "### `\($0.method.rawValue.uppercased()) \($0.path)`" }
            + ChatReference.shapes.map { "### " + $0.name }
        titles += ChatReference.groups.map { "## " + $0.title }
        for title in titles { #expect(lines.count { $0 == title } == 1, "\(title)") }
        #expect(!lines.contains { $0.hasSuffix(" ") } && MarkdownPage.text.hasSuffix("\n"))
        #expect(
            lines.count { $0 == "The answer is an empty object." }
                == (ChatReference.verbs.map(\.answer) + ChatReference.routes.map(\.answer)).count { $0.isEmpty })
    }

    // MARK: OpenAPI

    /// Each operation has the statuses of its errors and of those of every request, and no others.
    @Test func anOperationHasTheStatusesOfItsErrors() throws {
        let paths = try #require(OpenAPIDocument.value["paths"]?.objectValue)
        for route in OpenAPIDocument.routes {
            let responses = try #require(paths[route.path]?[route.method.rawValue]?["responses"]?.objectValue, "\(route.path)")
            let statuses = Set((route.errors + Verb.commonErrors).map { String($0.httpStatus) })
            #expect(Set(responses.map(\.key)) == statuses.union(["200"]), "\(route.path)")
            for status in statuses { #expect(responses[status] == ["$ref": .string("#/components/responses/\(status)")], "\(route.path)") }
        }
    }

    @Test func aStatusNamesItsCodes() throws {
        let responses = try #require(OpenAPIDocument.value["components"]?["responses"]?.objectValue)
        let expected = [
            "400": "`bad_request`", "401": "`unauthorized`", "403": "`forbidden`", "404": "`not_found`",
            "409": "`conflict`, `resync`, `epoch`",
            "410": "`too_late`", "413": "`too_large`", "422": "`limit`", "429": "`too_many`", "500": "`internal`", "501": "`unsupported`",
            "503": "`storage`, `unavailable`",
        ]
        #expect(Dictionary(uniqueKeysWithValues: responses.map { ($0.key, $0.value["description"]?.stringValue) }) == expected)
    }

    /// The routes that open a session need none, and all others do.
    @Test func publicRoutesNeedNoSession() {
        let isPublic: Set<String> = ["/api/server", "/api/register", "/api/login", "/api/refresh", "/api/logout", "/api/password"]
        #expect(Set(OpenAPIDocument.routes.filter { !$0.needsSession }.map(\.path)) == isPublic)
        #expect(Set(OpenAPIDocument.routes.filter { $0.method == .get }.map(\.path)) == ["/api/server", "/api/sessions"])
        for verb in ["hello", "typing", "subscribe", "signal"] {
            #expect(!OpenAPIDocument.routes.contains { $0.path == "/api/chat/\(verb)" })
        }
    }

    /// The paths of uploads and files, whose bodies are not JSON.
    @Test(arguments: [
        ("/api/uploads", ["post": "201"]), ("/api/uploads/{upload}", ["head": "200", "patch": "204", "delete": "204"]),
        ("/api/blobs/{blob}", ["get": "200"]), ("/api/blobs/{blob}/link", ["post": "200"]), ("/api/account/export", ["get": "200"]),
    ])
    func aPathOfFilesHasItsMethods(path: String, methods: [String: String]) throws {
        let item = try #require(OpenAPIDocument.value["paths"]?[path]?.objectValue)
        #expect(Set(item.map(\.key)) == Set(methods.keys).union(path.contains("{") ? ["parameters"] : []))
        for (method, status) in methods {
            let responses = try #require(item[method]?["responses"]?.objectValue)
            #expect(Set(responses.map(\.key)) == [status, "default"], "\(method)")
        }
        // Each variable of the path has a required parameter.
        let names = (item["parameters"]?.arrayValue ?? []).compactMap { $0["name"]?.stringValue }
        #expect(names.allSatisfy { path.contains("{\($0)}") } && names.count == path.count { $0 == "{" })
        #expect((item["parameters"]?.arrayValue ?? []).allSatisfy { $0["required"] == true && $0["in"] == "path" })
    }

    /// The text is the document in lines: small differences of the document are small differences
    /// of the text.
    @Test func theTextOfTheDocumentHasShortLines() throws {
        let text = OpenAPIDocument.text
        let lines = text.split(separator: "\n", omittingEmptySubsequences: false)
        #expect(text.hasSuffix("}\n") && lines.count > 1_000 && lines.allSatisfy { $0.utf8.count < 2_000 && !$0.hasSuffix(" ") })
        for line in lines { #expect(line.prefix { $0 == " " }.count.isMultiple(of: 2)) }
        #expect(try JSONReader.read(text)["openapi"] == "3.1.0")
    }
}

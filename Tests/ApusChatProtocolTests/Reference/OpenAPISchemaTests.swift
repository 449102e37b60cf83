import ApusChatProtocol
import ApusChatReference
import ApusJSON
import Testing

/// The codecs, as an application sees them that only has `docs/openapi.json`.
@Suite("The OpenAPI document describes the codecs")
struct OpenAPISchemaTests {
    /// A schema of the document, with the codec of its values.
    struct Described: Sendable, CustomTestStringConvertible {
        var name: String
        var schema: JSONValue
        var example: String
        var recode: Recode
        var isRequest: Bool
        var testDescription: String { self.name }
    }

    private static let document = (try? JSONReader.read(Docs.text("openapi.json"))) ?? .null

    private static let schemas = JSONSchema(components: document["components"]?["schemas"]?.objectValue ?? [:])

    /// The schemas of the requests and answers of all operations, and those of the objects.
    static let all: [Described] = {
        var all: [Described] = []
        for path in document["paths"]?.objectValue ?? [:] {
            guard let route = OpenAPIDocument.routes.first(where: { $0.path == path.key }) else { continue }
            for operation in path.value.objectValue ?? [:] {
                let request = operation.value["requestBody"]?["content"]?["application/json"]?["schema"]
                if let request, let recode = route.recodes.request {
                    let example = route.examples.request
                    all.append(Described(name: path.key, schema: request, example: example, recode: recode, isRequest: true))
                }
                let answer = operation.value["responses"]?["200"]?["content"]?["application/json"]?["schema"]
                if let answer, let recode = route.recodes.answer {
                    let (name, example) = (path.key + " answer", route.examples.answer)
                    all.append(Described(name: name, schema: answer, example: example, recode: recode, isRequest: false))
                }
            }
        }
        for schema in Self.schemas.components {
            guard let shape = ChatReference.shapes.first(where: { $0.name == schema.key }), let recode = shape.recode else { continue }
            all.append(Described(name: schema.key, schema: schema.value, example: shape.example, recode: recode, isRequest: false))
        }
        return all
    }()

    @Test func theDocumentHasASchemaForEveryRoute() {
        let names = Set(Self.all.map(\.name))
        for route in OpenAPIDocument.routes {
            #expect(names.contains(route.path) == (route.method == .post), "\(route.path)")
            #expect(names.contains(route.path + " answer"), "\(route.path)")
        }
        #expect(names.isSuperset(of: ChatReference.shapes.map(\.name)))
    }

    @Test(arguments: all)
    func examplesFollowTheirSchema(described: Described) throws {
        guard !described.example.isEmpty else { return }
        let example = try JSONReader.read(described.example)
        #expect(Self.schemas.violations(of: described.schema, by: example) == [])
        #expect(Self.schemas.violations(of: described.schema, by: try described.recode.run(example)) == [])
    }

    /// A value that the schema allows is accepted, and what the codec writes follows the schema.
    @Test(arguments: all)
    func valuesOfTheSchemaAreAccepted(described: Described) throws {
        let schema = Self.schemas.resolved(described.schema)
        let example = described.example.isEmpty ? Self.schemas.object(of: schema, isWhole: false) : try JSONReader.read(described.example)
        for property in schema["properties"]?.objectValue ?? [:] where !Self.exclusive.contains(property.key) {
            for limit in Self.schemas.limits(of: property.value) {
                var value = try #require(example.objectValue)
                value[property.key] = limit
                #expect(Self.schemas.violations(of: schema, by: .object(value)) == [], "\(property.key)")
                do throws(WireError) {
                    let written = try described.recode.run(.object(value))
                    #expect(Self.schemas.violations(of: schema, by: written) == [], "\(property.key)")
                } catch {
                    let isRule = described.isRequest && Self.ruled.contains(property.key)
                    #expect(isRule, "\(property.key): \(error)")
                }
            }
        }
    }

    /// Fields of which a request has one of several.
    private static let exclusive: Set<String> = [
        "from", "before", "around", "conv", "link", "device", "others", "old", "recovery", "edits",
    ]
    /// Fields of requests with a rule beyond their schema: roles of links, kinds of conversations,
    /// the length of passwords, states of calls, users of an ownership, empty profiles.
    private static let ruled: Set<String> = [
        "role", "kind", "password", "new", "state", "users", "title", "settings", "seqs", "user", "query",
    ]

    /// A value that the schema refuses is refused, and the error names its field.
    @Test(arguments: all)
    func valuesBesideTheSchemaAreRefused(described: Described) throws {
        let schema = Self.schemas.resolved(described.schema)
        let example = described.example.isEmpty ? Self.schemas.object(of: schema, isWhole: false) : try JSONReader.read(described.example)
        for property in schema["properties"]?.objectValue ?? [:] {
            for wrong in Self.schemas.wrongValues(of: property.value) {
                // An empty text removes a value.
                if wrong == "", described.isRequest, ["nick", "alias"].contains(property.key) { continue }
                var value = try #require(example.objectValue)
                value[property.key] = wrong
                #expect(!Self.schemas.violations(of: schema, by: .object(value)).isEmpty, "\(property.key) \(wrong)")
                let error = #expect(throws: WireError.self, "\(property.key): \(wrong)") { try described.recode.run(.object(value)) }
                let field = error?.field ?? ""
                #expect(field.hasPrefix(property.key) || Self.exclusive.contains(field), "\(property.key): \(field)")
            }
        }
    }

    /// A member of a set of a later version is refused in a request and read in an answer.
    @Test(arguments: all)
    func setsOfRequestsAreClosed(described: Described) throws {
        let schema = Self.schemas.resolved(described.schema)
        let example = described.example.isEmpty ? Self.schemas.object(of: schema, isWhole: false) : try JSONReader.read(described.example)
        for property in schema["properties"]?.objectValue ?? [:] {
            guard let values = Self.schemas.resolved(property.value)["enum"]?.arrayValue else { continue }
            #expect(Set(values).count == values.count && !values.contains("unknown"), "\(property.key)")
            for later in ["", "later", (values.first?.stringValue ?? "").uppercased()] {
                var value = try #require(example.objectValue)
                value[property.key] = .string(later)
                let isRefused = (try? described.recode.run(.object(value))) == nil
                #expect(isRefused == described.isRequest, "\(property.key): \(later)")
            }
        }
    }

    /// The validator accepts and refuses values for each keyword.
    @Test func theValidatorFindsViolations() throws {
        let text = ##"""
            {"type":"object","required":["a"],"properties":{"a":{"$ref":"#/components/schemas/T"},"b":{"type":"boolean"},
            "c":{"type":"array","maxItems":2,"items":{"type":"integer","minimum":0,"maximum":3}},"d":{"enum":["x"],"type":"string"}}}
            """##
        let schema = try JSONReader.read(text)
        let schemas = JSONSchema(components: ["T": ["type": "string", "minLength": 2, "maxLength": 3, "pattern": "^[a-c]*$"]])
        for right in [#"{"a":"ab"}"#, #"{"a":"abc","b":false,"c":[0,3],"d":"x"}"#, #"{"a":"aa","c":[]}"#] {
            #expect(schemas.violations(of: schema, by: try JSONReader.read(right)) == [], "\(right)")
        }
        for wrong in [
            "{}", "[]", #"{"a":"a"}"#, #"{"a":"aaaa"}"#, #"{"a":"ad"}"#, #"{"a":null}"#, #"{"a":"aa","b":0}"#, #"{"a":"aa","c":[4]}"#,
            #"{"a":"aa","c":[0.5]}"#, #"{"a":"aa","c":[0,0,0]}"#, #"{"a":"aa","d":"y"}"#, #"{"a":"aa","e":1}"#,
        ] {
            #expect(schemas.violations(of: schema, by: try JSONReader.read(wrong)).count == 1, "\(wrong)")
        }
    }
}

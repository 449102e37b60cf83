import ApusChatProtocol
package import ApusJSON

/// Generates `docs/openapi.json`, the OpenAPI 3.1 description of the HTTP interface.
package enum OpenAPIDocument {
    /// The document.
    package static var value: JSONValue {
        .object([
            "openapi": "3.1.0",
            "info": .object([
                "title": "Apus chat", "version": .string(String(ChatFeature.protocolVersion)),
                "description": "The HTTP interface of the chat server. docs/chat-wire.md describes the model and each verb.",
            ]),
            "security": .array([.object(["access": .array([])])]),
            "paths": .object(self.paths),
            "components": .object([
                "securitySchemes": .object(["access": .object(["type": "http", "scheme": "bearer"])]),
                "responses": .object(self.responses), "schemas": .object(self.schemas),
            ]),
        ])
    }

    /// The document as text. Each nested value begins on a separate line, so that differences
    /// between versions are small.
    package static var text: String {
        var text = ""
        self.append(self.value, indentation: "", to: &text)
        return text + "\n"
    }

    /// The routes that the document describes.
    package static var routes: [Route] {
        ChatReference.routes + ChatReference.verbs.filter { !ChatReference.liveVerbs.contains($0.name) }.map(Route.init)
    }

    private static var paths: JSONObject {
        var paths = JSONObject()
        for route in self.routes { paths[route.path] = .object([route.method.rawValue: self.operation(route)]) }
        for (path, item) in UploadPaths.items { paths[path] = item }
        return paths
    }

    private static func operation(_ route: Route) -> JSONValue {
        var operation: JSONObject = [
            "operationId": .string(String(route.path.dropFirst(5).replacing("/", with: "."))), "summary": .string(route.text),
        ]
        if !route.needsSession { operation["security"] = .array([]) }
        if route.method == .post {
            operation["requestBody"] = .object(["required": true, "content": self.content(self.schema(of: route.request))])
        }
        var responses: JSONObject = [
            "200": .object(["description": "The answer.", "content": self.content(self.schema(of: route.answer))])
        ]
        for status in Set((Verb.commonErrors + route.errors).map(\.httpStatus)).sorted() {
            responses[String(status)] = .object(["$ref": .string("#/components/responses/\(status)")])
        }
        operation["responses"] = .object(responses)
        return .object(operation)
    }

    private static func content(_ schema: JSONValue) -> JSONValue { .object(["application/json": .object(["schema": schema])]) }

    /// The error responses by their status.
    private static var responses: JSONObject {
        var responses = JSONObject()
        for status in Set(ChatReference.errors.map(\.code.httpStatus)).sorted() {
            let names = ChatReference.errors.map(\.code).filter { $0.httpStatus == status }.map { "`\($0.rawValue)`" }
            responses[String(status)] = .object([
                "description": .string(names.joined(separator: ", ")), "content": self.content(self.reference("Error")),
            ])
        }
        return responses
    }

    private static var schemas: JSONObject {
        var schemas = JSONObject()
        for shape in ChatReference.shapes { schemas[shape.name] = self.schema(of: shape.fields) }
        schemas["Changed"] = self.inlineSchema(of: ChatReference.changed)
        schemas["Error"] = self.object(
            [
                "error": self.schema(of: [
                    .must("code", .choice(ChatReference.errors.map(\.code.rawValue)), ""),
                    .must("message", .string(ChatLimits.messageLength), ""), .may("field", .string(ChatLimits.messageLength), ""),
                    .may("retry_after", .count, ""),
                ])
            ], required: ["error"])
        return schemas
    }

    private static func schema(of fields: [Field]) -> JSONValue {
        fields == ChatReference.changed ? self.reference("Changed") : self.inlineSchema(of: fields)
    }

    private static func inlineSchema(of fields: [Field]) -> JSONValue {
        var properties = JSONObject()
        for field in fields {
            guard var schema = self.schema(of: field.type).objectValue else { continue }
            if !field.text.isEmpty { schema["description"] = .string(field.text) }
            properties[field.name] = .object(schema)
        }
        return self.object(properties, required: fields.filter(\.isRequired).map(\.name))
    }

    private static func object(_ properties: JSONObject, required: [String]) -> JSONValue {
        var schema: JSONObject = ["type": "object"]
        if !properties.isEmpty { schema["properties"] = .object(properties) }
        if !required.isEmpty { schema["required"] = .array(required.map { .string($0) }) }
        return .object(schema)
    }

    private static func reference(_ name: String) -> JSONValue { .object(["$ref": .string("#/components/schemas/\(name)")]) }

    private static func pattern(_ pattern: String) -> JSONValue { .object(["type": "string", "pattern": .string(pattern)]) }

    private static func schema(of type: FieldType) -> JSONValue {
        switch type {
        case .string(let range):
            .object(["type": "string", "minLength": JSONValue(range.lowerBound), "maxLength": JSONValue(range.upperBound)])
        case .user: .object(["type": "string", "minLength": 1, "maxLength": JSONValue(ChatLimits.nameLength)])
        case .conversation, .device: self.pattern("^[0-7][0-9a-hjkmnp-tv-z]{12}$")
        case .client: self.pattern("^[!-~]{1,64}$")
        case .blob: self.pattern("^[0-9a-f]{64}$")
        case .blobOrEmpty: self.pattern("^([0-9a-f]{64})?$")
        case .link: self.pattern("^[A-Za-z0-9_-]{16,64}$")
        case .token: self.pattern("^[!-~]{1,256}$")
        case .kind: .object(["type": "string", "minLength": 1, "maxLength": 64])
        case .integer(let range):
            .object(["type": "integer", "minimum": .integer(range.lowerBound), "maximum": .integer(range.upperBound)])
        case .number(let range):
            .object(["type": "number", "minimum": .double(range.lowerBound), "maximum": .double(range.upperBound)])
        case .time: .object(["type": "integer", "minimum": 0, "maximum": .integer(WireReader.largestInteger)])
        case .bool: .object(["type": "boolean"])
        case .any: .object(["type": "object"])
        case .choice(let values): .object(["type": "string", "enum": .array(values.map { .string($0) })])
        case .shape(let name): self.reference(name)
        case .list(let element, let maximum):
            .object(["type": "array", "items": self.schema(of: element), "maxItems": JSONValue(maximum)])
        }
    }

    /// Appends a value, indented by two spaces for each level. An object or array that contains no
    /// other container is written on one line.
    private static func append(_ value: JSONValue, indentation: String, to text: inout String) {
        let inner = indentation + "  "
        switch value {
        case .object(let object) where object.contains(where: { $0.value.isContainer }):
            text += "{\n"
            for (index, member) in object.enumerated() {
                text += (index > 0 ? ",\n" : "") + inner + JSONValue.string(member.key).description + ": "
                self.append(member.value, indentation: inner, to: &text)
            }
            text += "\n" + indentation + "}"
        case .array(let elements) where elements.contains(where: { $0.isContainer }):
            text += "[\n"
            for (index, element) in elements.enumerated() {
                text += (index > 0 ? ",\n" : "") + inner
                self.append(element, indentation: inner, to: &text)
            }
            text += "\n" + indentation + "]"
        default: text += value.description
        }
    }
}

extension JSONValue {
    /// Whether the value is an object or array with elements.
    fileprivate var isContainer: Bool {
        switch self {
        case .object(let object): !object.isEmpty
        case .array(let elements): !elements.isEmpty
        default: false
        }
    }
}

import ApusJSON

/// Generates the OpenAPI description of uploads (tus 1.0) and blobs, whose bodies are not JSON.
enum UploadPaths {
    static var items: [(path: String, item: JSONValue)] {
        [
            ("/api/uploads", .object(["post": self.creation])),
            (
                "/api/uploads/{upload}",
                .object([
                    "parameters": .array([self.parameter("upload", "path", "The id of the upload, from `Location`.")]),
                    "head": self.operation(
                        "uploads.offset", "Requests the offset up to which the bytes are on the disk.", status: "200",
                        parameters: [self.version]),
                    "patch": self.patch,
                    "delete": self.operation("uploads.delete", "Removes an unfinished upload.", status: "204", parameters: [self.version]),
                ])
            ),
            (
                "/api/blobs/{blob}",
                .object([
                    "parameters": .array([self.parameter("blob", "path", "The id of the blob.")]),
                    "get": self.operation(
                        "blobs.get",
                        "Returns the bytes of a blob that the user may read, or with `size` a smaller picture. Ranges are supported.",
                        status: "200",
                        parameters: [
                            self.parameter("size", "query", "`thumbnail`, `preview` or a number of pixels.", isRequired: false),
                            self.parameter(
                                "signed", "query", "The signature of a link, which replaces the session.", isRequired: false),
                        ]),
                ])
            ),
            (
                "/api/blobs/{blob}/link",
                .object([
                    "parameters": .array([self.parameter("blob", "path", "The id of the blob.")]),
                    "post": self.link,
                ])
            ),
            (
                "/api/account/export",
                .object([
                    "get": self.operation(
                        "account.export", "Returns the data of the user as a ZIP file, whose `README.txt` names its parts.", status: "200")
                ])
            ),
        ]
    }

    private static var creation: JSONValue {
        self.operation(
            "uploads.create", "Creates an upload. `Upload-Metadata` has `name` and `type`, and may have `sha256`.", status: "201",
            parameters: [
                self.version, self.parameter("Upload-Length", "header", "The size in bytes."),
                self.parameter("Upload-Metadata", "header", "The name and the media type.", isRequired: false),
            ])
    }

    private static var link: JSONValue {
        guard
            case .object(var operation) = self.operation(
                "blobs.link",
                "Makes a link to a blob that the user may read, which needs no session for 15 minutes. It has the query of the request.",
                status: "200",
                parameters: [self.parameter("size", "query", "`thumbnail`, `preview` or a number of pixels.", isRequired: false)]),
            case .object(var responses)? = operation["responses"]
        else { return .null }
        responses["200"] = .object([
            "description": "The path with its signature, and the time at which the link ends.",
            "content": .object([
                "application/json": .object([
                    "schema": .object([
                        "type": "object", "required": .array(["path", "expires_at"]),
                        "properties": .object([
                            "path": .object(["type": "string"]), "expires_at": .object(["type": "integer"]),
                        ]),
                    ])
                ])
            ]),
        ])
        operation["responses"] = .object(responses)
        return .object(operation)
    }

    private static var patch: JSONValue {
        guard
            case .object(var operation) = self.operation(
                "uploads.append", "Appends bytes at an offset. Bytes that arrived before a lost connection are kept.", status: "204",
                parameters: [self.version, self.parameter("Upload-Offset", "header", "The offset of the first byte.")])
        else { return .null }
        operation["requestBody"] = .object([
            "required": true,
            "content": .object(["application/offset+octet-stream": .object(["schema": .object(["type": "string", "format": "binary"])])]),
        ])
        return .object(operation)
    }

    private static let version = Self.parameter("Tus-Resumable", "header", "The version of tus: 1.0.0.")

    private static func parameter(_ name: String, _ place: String, _ text: String, isRequired: Bool = true) -> JSONValue {
        .object([
            "name": .string(name), "in": .string(place), "required": .bool(isRequired), "description": .string(text),
            "schema": .object(["type": "string"]),
        ])
    }

    private static func operation(_ id: String, _ text: String, status: String, parameters: [JSONValue] = []) -> JSONValue {
        var operation: JSONObject = ["operationId": .string(id), "summary": .string(text)]
        if !parameters.isEmpty { operation["parameters"] = .array(parameters) }
        operation["responses"] = .object([
            status: .object(["description": "Success."]),
            "default": .object([
                "description": "An error.",
                "content": .object(["application/json": .object(["schema": .object(["$ref": "#/components/schemas/Error"])])]),
            ]),
        ])
        return .object(operation)
    }
}

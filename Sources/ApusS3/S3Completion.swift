/// The request and response bodies of a multipart upload.
///
/// Source: Amazon S3 API Reference, CreateMultipartUpload and CompleteMultipartUpload.
package enum S3Completion {
    /// Returns the id in the response to CreateMultipartUpload.
    package static func uploadID(in body: [UInt8]) throws(S3Error) -> String {
        guard let id = XMLElements(body)?.text(of: "InitiateMultipartUploadResult", "UploadId"), !id.isEmpty, id.utf8.count <= 1_024 else {
            throw S3Error(.malformedAnswer, message: "the response to CreateMultipartUpload has no UploadId of 1 to 1,024 bytes")
        }
        return id
    }

    /// Returns the body of CompleteMultipartUpload.
    ///
    /// - Parameter tags: The entity tags of the parts, in order.
    package static func body(_ tags: [String]) -> [UInt8] {
        let parts = tags.enumerated().map { index, tag in
            "<Part><PartNumber>\(index + 1)</PartNumber><ETag>\(Self.escaped(tag))</ETag></Part>"
        }
        return Array(
            ("<CompleteMultipartUpload xmlns=\"http://s3.amazonaws.com/doc/2006-03-01/\">" + parts.joined()
                + "</CompleteMultipartUpload>").utf8)
    }

    /// Checks the response to CompleteMultipartUpload, which can be an error with the status 200.
    package static func check(_ body: [UInt8]) throws(S3Error) {
        guard let elements = XMLElements(body) else {
            throw S3Error(.malformedAnswer, message: "the response to CompleteMultipartUpload is not well-formed XML")
        }
        guard elements.root == "CompleteMultipartUploadResult" else { throw S3Error(status: 500, body: body) }
    }

    private static func escaped(_ text: String) -> String {
        text.reduce(into: "") { result, character in
            switch character {
            case "&": result += "&amp;"
            case "<": result += "&lt;"
            case ">": result += "&gt;"
            case "\"": result += "&quot;"
            default: result.append(character)
            }
        }
    }
}

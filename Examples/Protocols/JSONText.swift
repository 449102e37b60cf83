// The code of the landing page of ApusJSON. `scripts/check-snippets` compares the two.
import ApusJSON

func aJSONText() throws -> [UInt8] {
    let value = try JSONReader.read(#"{"name":"ada","scores":[1,2]}"#)
    print(value["name"]?.stringValue ?? "", value["scores"]?.arrayValue?.count ?? 0)
    let text = try JSONWriter.bytes(of: ["ok": true])
    return text
}

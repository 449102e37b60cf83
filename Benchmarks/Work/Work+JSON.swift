import ApusJSON

extension Work {
    private static let message =
        #"{"id":"01J9Z7Q3W8","from":"alice","to":["bob","carol"],"sent":1763720413,"text":"在吗？ The swifts are back, 12 of them over the church tower.","read":false,"place":{"latitude":48.137,"longitude":11.575},"tags":["swift","bird"],"edited":null,"size":[1024,768],"mood":"cheerful as a lark"}"#

    static let json: [Work] = [
        Work("JSON read, a message of 280 B") { try Self.reading(Self.message) },
        Work("JSON read, a text of 1 KiB") { try Self.reading("[\"\(String(repeating: "x", count: 1020))\"]") },
        Work("JSON read, 100 numbers") { try Self.reading("[\((0..<100).map { "\(Double($0) * 1.7)" }.joined(separator: ","))]") },
        Work("JSON written, a message of 280 B") {
            let value = try JSONReader.read(Self.message)
            return { rounds in for _ in 0..<rounds { use(try JSONWriter.bytes(of: value)) } }
        },
    ]

    private static func reading(_ text: String) throws -> (Int) throws -> Void {
        let bytes = Array(text.utf8)
        return { rounds in for _ in 0..<rounds { use(try JSONReader.read(bytes)) } }
    }
}

import ApusJSON

/// Reads any bytes: no trap, values survive a round trip, and the outline accepts the same texts as
/// the reader.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzJSON(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    let input = UnsafeRawBufferPointer(start: start, count: count)
    let read = try? JSONReader.read(input)
    checkOutline(input, read)
    checkReplacement(input, read)
    guard let value = read else { return 0 }
    checkRoundTrip(value)
    checkCoding(value)
    checkSplit(input)
    return 0
}

private func checkOutline(_ input: UnsafeRawBufferPointer, _ value: JSONValue?) {
    let finding = try? JSONArrayOutline.find(in: input, limits: .init())
    precondition((finding == nil) == (value == nil), "outline and reader accept different texts")
    switch (finding, value) {
    case (nil, _), (.other, _): break
    case (.emptyArray, let value): precondition(value == [], "only the outline finds an empty array")
    case (.array(let outline), let value):
        var elements = JSONElements(UnsafeRawBufferPointer(rebasing: input[outline.all]), limits: .init())
        var found: [JSONValue] = []
        while let element = try? elements.next() { found.append(element) }
        precondition(value == .array(found), "the elements differ from the reader's")
        precondition((try? JSONReader.read(UnsafeRawBufferPointer(rebasing: input[outline.first]))) == found.first, "another first element")
    }
}

/// Replacing lone surrogates does not change other texts, and makes texts readable in which lone
/// surrogates are the only error.
private func checkReplacement(_ input: UnsafeRawBufferPointer, _ value: JSONValue?) {
    let limits = JSONReader.Limits(loneSurrogates: .replace)
    let replaced = try? JSONReader.read(input, limits: limits)
    precondition(value == nil || replaced == value, "the replacement changes a text without lone surrogates")
    precondition(
        (try? JSONArrayOutline.find(in: input, limits: limits)) == nil ? replaced == nil : replaced != nil, "outline and reader differ")
    if let replaced { checkRoundTrip(replaced) }
}

private func checkRoundTrip(_ value: JSONValue) {
    guard let bytes = try? JSONWriter.bytes(of: value) else { preconditionFailure("a value that was read cannot be written") }
    guard let again = try? JSONReader.read(bytes) else { preconditionFailure("a text that was written cannot be read") }
    precondition(again == value, "the round trip changed the value")
    precondition(again.hashValue == value.hashValue, "equal values with different hashes")
    guard let second = try? JSONWriter.bytes(of: again) else { preconditionFailure("the value cannot be written a second time") }
    precondition(second == bytes, "the encoding is not stable")
}

/// The Codable bridge encodes and decodes any value. A wrong type is an error and does not trap.
private func checkCoding(_ value: JSONValue) {
    guard let through = try? JSONValueEncoder().encode([value]) else { preconditionFailure("a value cannot be encoded") }
    precondition((try? JSONValueDecoder().decode([JSONValue].self, from: through)) == [value], "the bridge changed the value")
    let decoder = JSONValueDecoder()
    _ = try? decoder.decode([String: [Int8]].self, from: value)
    _ = try? decoder.decode([UInt64?].self, from: value)
    _ = try? decoder.decode([Float].self, from: value)
}

/// No proper prefix of an array or object is a valid text.
private func checkSplit(_ input: UnsafeRawBufferPointer) {
    guard let opening = input.first(where: { $0 > 0x20 }), opening == UInt8(ascii: "[") || opening == UInt8(ascii: "{") else { return }
    guard let end = input.lastIndex(where: { $0 > 0x20 }) else { return }
    precondition((try? JSONReader.read(UnsafeRawBufferPointer(rebasing: input[..<end]))) == nil, "a prefix was read as a complete text")
}

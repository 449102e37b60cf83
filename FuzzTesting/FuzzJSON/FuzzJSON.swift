import ApusJSON

/// Any bytes: no trap, whatever the reader takes is written and read back as the same value, and the outline of an array is found in just those
/// texts that the reader takes.
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
    precondition((finding == nil) == (value == nil), "outline and reader take different texts")
    switch (finding, value) {
    case (nil, _), (.other, _): break
    case (.emptyArray, let value): precondition(value == [], "an array is empty for the outline only")
    case (.array(let outline), let value):
        var elements = JSONElements(UnsafeRawBufferPointer(rebasing: input[outline.all]), limits: .init())
        var found: [JSONValue] = []
        while let element = try? elements.next() { found.append(element) }
        precondition(value == .array(found), "the elements are others than the reader's")
        precondition((try? JSONReader.read(UnsafeRawBufferPointer(rebasing: input[outline.first]))) == found.first, "another first element")
    }
}

/// Replacing halves of surrogate pairs changes no text that has none, and takes what only they made an error.
private func checkReplacement(_ input: UnsafeRawBufferPointer, _ value: JSONValue?) {
    let limits = JSONReader.Limits(loneSurrogates: .replace)
    let replaced = try? JSONReader.read(input, limits: limits)
    precondition(value == nil || replaced == value, "a text without lone surrogates is read otherwise")
    precondition(
        (try? JSONArrayOutline.find(in: input, limits: limits)) == nil ? replaced == nil : replaced != nil, "outline and reader differ")
    if let replaced { checkRoundTrip(replaced) }
}

private func checkRoundTrip(_ value: JSONValue) {
    guard let bytes = try? JSONWriter.bytes(of: value) else { preconditionFailure("a value that was read cannot be written") }
    guard let again = try? JSONReader.read(bytes) else { preconditionFailure("a text that was written cannot be read") }
    precondition(again == value, "the value changed on its way through text")
    precondition(again.hashValue == value.hashValue, "equal values with different hashes")
    guard let second = try? JSONWriter.bytes(of: again) else { preconditionFailure("the second time cannot be written") }
    precondition(second == bytes, "writing is not stable")
}

/// The Codable bridge takes any value apart and puts it together again; a wrong type is an error and no trap.
private func checkCoding(_ value: JSONValue) {
    guard let through = try? JSONValueEncoder().encode([value]) else { preconditionFailure("a value cannot be encoded") }
    precondition((try? JSONValueDecoder().decode([JSONValue].self, from: through)) == [value], "the value changed in the bridge")
    let decoder = JSONValueDecoder()
    _ = try? decoder.decode([String: [Int8]].self, from: value)
    _ = try? decoder.decode([UInt64?].self, from: value)
    _ = try? decoder.decode([Float].self, from: value)
}

/// No proper prefix of an array or object is a text of its own.
private func checkSplit(_ input: UnsafeRawBufferPointer) {
    guard let opening = input.first(where: { $0 > 0x20 }), opening == UInt8(ascii: "[") || opening == UInt8(ascii: "{") else { return }
    guard let end = input.lastIndex(where: { $0 > 0x20 }) else { return }
    precondition((try? JSONReader.read(UnsafeRawBufferPointer(rebasing: input[..<end]))) == nil, "a prefix was taken for a whole text")
}

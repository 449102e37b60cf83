/// Builds nested arrays and objects without recursion, innermost first.
///
/// A parser appends scalars and names as it reads them, and opens and closes containers; it keeps
/// no state per level. Each array and object is created once, with its exact capacity, from values
/// that are moved and not copied.
package struct JSONTreeBuilder: ~Copyable {
    /// An open array or object.
    private struct Container {
        /// The number of values before its first value.
        var start: Int
        var isObject: Bool
    }

    private var values: MoveStack<JSONValue>
    /// The names of the values in open objects, including the name of the next value.
    private var names: MoveStack<String>
    private var outer: MoveStack<Container>
    private var current = Container(start: 0, isObject: false)
    /// The number of open containers.
    package private(set) var depth = 0

    /// Calls `body` with an empty builder. The initial memory is on the stack and fits usual
    /// messages.
    package static func build<Failure: Error>(
        _ body: (inout JSONTreeBuilder) throws(Failure) -> JSONValue
    ) throws(Failure) -> JSONValue {
        // Swift allocates up to 1,024 bytes on the stack and more on the heap. Closures of the
        // standard library do not rethrow typed errors, so the closure returns a `Result`.
        let result = withUnsafeTemporaryAllocation(byteCount: 1024, alignment: 16) { memory -> Result<JSONValue, Failure> in
            var builder = JSONTreeBuilder(memory)
            do throws(Failure) { return .success(try body(&builder)) } catch { return .failure(error) }
        }
        return try result.get()
    }

    private init(_ memory: UnsafeMutableRawBufferPointer) {
        self.values = MoveStack(UnsafeMutableRawBufferPointer(rebasing: memory[..<512]))
        self.names = MoveStack(UnsafeMutableRawBufferPointer(rebasing: memory[512..<896]))
        self.outer = MoveStack(UnsafeMutableRawBufferPointer(rebasing: memory[896...]))
    }

    /// Whether the innermost open container is an object.
    package var isInObject: Bool { self.current.isObject }

    /// The number of values in the innermost open container.
    package var count: Int { self.values.count - self.current.start }

    package mutating func open(isObject: Bool) {
        self.outer.push(self.current)
        self.current = Container(start: self.values.count, isObject: isObject)
        self.depth += 1
    }

    /// Appends the name of the next member. In an object each value follows its name.
    package mutating func append(name: String) { self.names.push(name) }

    /// Removes the name of a member without a value.
    package mutating func removeName() { _ = self.names.pop() }

    package mutating func append(_ value: JSONValue) { self.values.push(value) }

    /// Closes the innermost open container and returns it.
    package mutating func close() -> JSONValue {
        let count = self.count
        let isObject = self.current.isObject
        self.current = self.outer.pop() ?? Container(start: 0, isObject: false)
        self.depth -= 1
        let values = self.values.takeLast(count)
        guard isObject else {
            return .array(
                Array(unsafeUninitializedCapacity: count) { elements, initialized in
                    elements.baseAddress?.moveInitialize(from: values, count: count)
                    initialized = count
                })
        }
        let names = self.names.takeLast(count)
        let members = ContiguousArray<JSONObject.Element>(unsafeUninitializedCapacity: count) { members, initialized in
            for index in 0..<count {
                members.initializeElement(at: index, to: ((names + index).move(), (values + index).move()))
            }
            initialized = count
        }
        return .object(JSONObject(unchecked: members))
    }
}

/// A stack whose elements are moved in and out. It starts in borrowed memory, and moves to the heap
/// when that memory is full.
private struct MoveStack<Element>: ~Copyable {
    private var base: UnsafeMutablePointer<Element>
    private var capacity: Int
    private var ownsMemory = false
    private(set) var count = 0

    /// Creates an empty stack.
    ///
    /// - Parameter memory: Memory with the alignment of the element, which must outlive the stack.
    init(_ memory: UnsafeMutableRawBufferPointer) {
        let elements = memory.bindMemory(to: Element.self)
        if let base = elements.baseAddress {
            self.base = base
            self.capacity = elements.count
        } else {
            self.base = .allocate(capacity: 16)
            self.capacity = 16
            self.ownsMemory = true
        }
    }

    deinit {
        self.base.deinitialize(count: self.count)
        if self.ownsMemory { self.base.deallocate() }
    }

    @inline(__always)
    mutating func push(_ element: consuming Element) {
        if self.count == self.capacity { self.grow() }
        (self.base + self.count).initialize(to: element)
        self.count += 1
    }

    mutating func pop() -> Element? {
        guard self.count > 0 else { return nil }
        self.count -= 1
        return (self.base + self.count).move()
    }

    /// Removes the last elements. They remain in place, in order, for the caller to move out before
    /// the next push.
    mutating func takeLast(_ count: Int) -> UnsafeMutablePointer<Element> {
        self.count -= count
        return self.base + self.count
    }

    private mutating func grow() {
        let larger = UnsafeMutablePointer<Element>.allocate(capacity: max(self.capacity * 2, 16))
        larger.moveInitialize(from: self.base, count: self.count)
        if self.ownsMemory { self.base.deallocate() }
        self.base = larger
        self.capacity = max(self.capacity * 2, 16)
        self.ownsMemory = true
    }
}

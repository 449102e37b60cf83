/// Puts `newValue` into `place` and answers what was there: a payload is changed without being copied.
package func exchange<Value>(_ place: inout Value, with newValue: Value) -> Value {
    let old = place
    place = newValue
    return old
}

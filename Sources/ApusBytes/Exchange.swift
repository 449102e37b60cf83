/// Replaces the value of `place` and returns the old one, so that a payload can be changed without
/// a copy.
package func exchange<Value>(_ place: inout Value, with newValue: Value) -> Value {
    let old = place
    place = newValue
    return old
}

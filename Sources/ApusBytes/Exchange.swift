/// Replaces the value of `place` and returns the old one, so that the payload of an enum case can
/// be changed without a copy.
package func exchange<Value>(_ place: inout Value, with newValue: Value) -> Value {
    let old = place
    place = newValue
    return old
}

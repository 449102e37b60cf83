package import ArgumentParser
package import HTTPTypes

extension HTTPFields {
    /// Parses the values of `--header`.
    ///
    /// - Parameter options: Fields in the form `name: value`.
    package init(options: [String]) throws(ValidationError) {
        self.init()
        for option in options {
            guard let colon = option.firstIndex(of: ":"), colon > option.startIndex else {
                throw ValidationError("--header \"\(option)\" must be a name, a colon and a value; for example --header \"Cookie: a=b\"")
            }
            guard !option.utf8.contains(where: { $0 < 0x20 && $0 != 0x09 || $0 == 0x7f }) else {
                throw ValidationError("--header must not contain a control character")
            }
            let value = option[option.index(after: colon)...].drop { $0 == " " }
            guard let name = HTTPField.Name(String(option[..<colon])) else {
                throw ValidationError("--header \"\(option)\" must begin with a valid field name; for example --header \"Cookie: a=b\"")
            }
            self.append(HTTPField(name: name, value: String(value)))
        }
    }
}

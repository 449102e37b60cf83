import ApusBytes

/// The proxy settings in a process's environment variables. Pure: the variables are an argument.
///
/// There is no standard. Follows curl's manual ("ENVIRONMENT") and Go's `httpproxy`, which differ
/// only in details.
struct ProxyEnvironment {
    private let variables: [String: String]

    init(_ variables: [String: String]) {
        self.variables = variables
    }

    /// Returns the proxy for a server, if any.
    func proxy(forHost host: String, port: Int, isSecure: Bool) throws(ConnectivityError) -> ProxySettings.Proxy? {
        guard !IPAddress.isLoopback(host: host), !self.excludes(host: host, port: port) else { return nil }
        guard let url = self.url(isSecure: isSecure) else { return nil }
        return try ProxySettings.Proxy(url: url)
    }

    private func url(isSecure: Bool) -> String? {
        if isSecure, let url = self.value("https_proxy") ?? self.value("HTTPS_PROXY") { return url }
        if !isSecure {
            if let url = self.value("http_proxy") { return url }
            // In CGI, a request's `Proxy` field sets HTTP_PROXY (CVE-2016-5385).
            if self.variables["REQUEST_METHOD"] == nil, let url = self.value("HTTP_PROXY") { return url }
        }
        return self.value("all_proxy") ?? self.value("ALL_PROXY")
    }

    /// Returns the value of a variable; `nil` if it is empty or not set.
    private func value(_ name: String) -> String? {
        self.variables[name].flatMap { $0.isEmpty ? nil : $0 }
    }

    /// Returns whether `NO_PROXY` excludes the server.
    func excludes(host: String, port: Int) -> Bool {
        guard let list = self.value("no_proxy") ?? self.value("NO_PROXY") else { return false }
        let name = (host.hasSuffix(".") ? String(host.dropLast()) : host).asciiLowercased
        let address = IPAddress(name)
        return list.split(whereSeparator: { $0 == "," || $0 == " " || $0 == "\t" }).contains { entry in
            if entry == "*" { return true }
            return Self.matches(entry.asciiLowercased, name: name, address: address, port: port)
        }
    }

    private static func matches(_ entry: String, name: String, address: IPAddress?, port: Int) -> Bool {
        if entry.contains("/") {
            guard let address, let network = IPNetwork(entry) else { return false }
            return network.contains(address)
        }
        guard let (host, portText) = HostAndPort.split(entry[...]) else { return false }
        if let portText, Int(digits: portText) != port { return false }
        if let address { return IPAddress(String(host)) == address }
        var suffix = host
        if suffix.hasPrefix("*") { suffix = suffix.dropFirst() }
        let isOnlyBelow = host.hasPrefix("*.")
        if suffix.hasPrefix(".") { suffix = suffix.dropFirst() }
        if suffix.hasSuffix(".") { suffix = suffix.dropLast() }
        guard !suffix.isEmpty else { return false }
        return name.utf8.reversed().starts(with: ("." + suffix).utf8.reversed()) || (!isOnlyBelow && name.hasSameBytes(as: suffix))
    }
}

#if canImport(Network)
    import Dispatch
    import Network

    /// A source of network paths based on `NWPathMonitor`.
    struct AppleNetworkPathSource: NetworkPathMonitor.Source {
        private let monitor = NWPathMonitor()

        init(report: @escaping @Sendable (NetworkPath) -> Void) {
            self.monitor.pathUpdateHandler = { path in
                // `requiresConnection` (an on-demand VPN) becomes satisfied when a connection is
                // opened.
                let isSatisfied = path.status != .unsatisfied
                let interfaces = path.availableInterfaces.map { "\($0.name)" }
                let gateways = path.gateways.map { "via \($0)" }
                let kind = "\(path.supportsIPv4 ? "4" : "")\(path.supportsIPv6 ? "6" : "")"
                report(
                    NetworkPath(
                        isSatisfied: isSatisfied, hasDefaultRoute: isSatisfied && !path.gateways.isEmpty,
                        fingerprint: ([kind] + interfaces + gateways.sorted()).joined(separator: ", ")))
            }
            self.monitor.start(queue: DispatchQueue(label: "apus.network-path"))
        }

        func stop() { self.monitor.cancel() }
    }
#endif

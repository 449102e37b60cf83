import ApusJSON
import ApusSocketIOProtocol
import ApusSocketIOServer
import Logging
import Testing

@Suite struct SocketIODynamicNamespaceTests {
    private func makeServer(_ change: (inout SocketIOServerConfiguration) -> Void = { _ in }) -> SocketIOServer {
        var configuration = SocketIOServerConfiguration()
        change(&configuration)
        return SocketIOServer(configuration: configuration, logger: Logger(label: "test"))
    }

    @Test func aNameThatFitsIsMadeAndOthersAreRefused() throws {
        let server = self.makeServer()
        let parent = server.namespaces(matching: /\/dyn-\d+/)
        parent.onConnection { socket in socket.emit("in", socket.namespace.name) }
        let client = try PollingClient(server)
        try client.post("0/dyn-7,")
        #expect(try client.poll() == [#"0/dyn-7,{"sid":"ID"}"#, #"2/dyn-7,["in","/dyn-7"]"#])
        try client.post("0/dyn-7x,", "0/xdyn-7,")
        #expect(
            try client.poll() == [
                #"4/dyn-7x,{"message":"Invalid namespace"}"#, #"4/xdyn-7,{"message":"Invalid namespace"}"#,
            ])
        #expect(parent.children.map(\.name) == ["/dyn-7"])
    }

    @Test func thePredicateSeesNameAndAuth() throws {
        let server = self.makeServer()
        _ = server.namespaces { name, auth in name.hasPrefix("/t/") && auth["token"] == "t" }
        let client = try PollingClient(server)
        try client.post(#"0/t/1,{"token":"x"}"#)
        #expect(try client.poll() == [#"4/t/1,{"message":"Invalid namespace"}"#])
        try client.connect(#"0/t/1,{"token":"t"}"#)
    }

    @Test func aNamespaceThatExistsAndTheFirstRuleComeFirst() throws {
        let server = self.makeServer()
        server.namespace("/a1").onConnection { socket in socket.emit("static") }
        server.namespaces(matching: /\/a\d/).onConnection { socket in socket.emit("first") }
        server.namespaces(matching: /\/[ab]\d/).onConnection { socket in socket.emit("second") }
        let client = try PollingClient(server)
        try client.post("0/a1,", "0/a2,", "0/b1,")
        let events = try client.poll().filter { $0.hasPrefix("2") }
        #expect(events == [#"2/a1,["static"]"#, #"2/a2,["first"]"#, #"2/b1,["second"]"#])
    }

    /// A rule with a regular expression also applies when the application creates the namespace.
    @Test func aNameThatFitsIsGuardedWhenTheApplicationNamesItFirst() throws {
        let server = self.makeServer { $0.maximumDynamicNamespaces = 1 }
        let parent = server.namespaces(matching: /\/workspace-\d+/)
        parent.onConnection { socket in socket.emit("parent") }
        #expect(server.existingNamespace("/workspace-7") == nil)
        let named = server.namespace("workspace-7")
        named.onConnection { socket in socket.emit("own") }
        #expect(parent.children.map(\.name) == ["/workspace-7"])
        #expect(server.existingNamespace("workspace-7") === named)
        #expect(parent.children.count == 1, "asking made none")
        let client = try PollingClient(server)
        try client.post("0/workspace-7,", "0/workspace-8,")
        let events = try client.poll().filter { $0.hasPrefix("2") }
        #expect(events == [#"2/workspace-7,["parent"]"#, #"2/workspace-7,["own"]"#, #"2/workspace-8,["parent"]"#])
        // Removes the namespace that a client requested, not the one that the application named.
        try client.post("1/workspace-7,", "1/workspace-8,")
        #expect(parent.children.first === named)
        #expect(parent.children.count == 1)
    }

    @Test func thePageOfTheAdminObeysNoRuleOfTheApplication() throws {
        let server = self.makeServer()
        let parent = server.namespaces(matching: /\/.+/)
        server.enableAdmin(SocketIOAdminConfiguration(authentication: .none))
        #expect(parent.children.isEmpty)
        #expect(server.existingNamespace("/admin") != nil)
    }

    @Test func parentsHandlersCountBeforeTheChildsOwn() throws {
        let server = self.makeServer()
        let parent = server.namespaces(matching: /\/d/)
        server.onNewNamespace { child in child.onConnection { socket in socket.emit("child") } }
        parent.onConnection { socket in socket.emit("parent") }
        let client = try PollingClient(server)
        try client.post("0/d,")
        #expect(try client.poll().dropFirst() == [#"2/d,["parent"]"#, #"2/d,["child"]"#])
        parent.emit("to all", 1)
        #expect(try client.poll() == [#"2/d,["to all",1]"#])
    }

    @Test func newNamespacesAreReportedOnceAndBeforeTheirFirstClient() throws {
        let server = self.makeServer()
        let told = Box<String>()
        server.onNewNamespace { namespace in
            told.add(namespace.name)
            // The namespace is available already, and the lookup creates no second one.
            #expect(server.namespace(namespace.name) === namespace)
            namespace.onConnection { _ in told.add("client of \(namespace.name)") }
        }
        _ = server.namespaces { name, _ in name == "/d" }
        _ = server.namespace("/static")
        _ = server.namespace("static")
        let client = try PollingClient(server)
        try client.connect("0/d,")
        #expect(told.all == ["/static", "/d", "client of /d"])
    }

    @Test func anEmptyChildIsRemovedAndCreatedAnew() throws {
        let server = self.makeServer()
        let parent = server.namespaces { name, _ in name == "/d" }
        let (a, b) = (try PollingClient(server), try PollingClient(server))
        try a.connect("0/d,")
        try b.connect("0/d,")
        let first = try #require(parent.children.first)
        try a.post("1/d,")
        #expect(parent.children.count == 1)
        try b.post("1/d,")
        #expect(parent.children.isEmpty)
        #expect(server.allNamespaces.isEmpty)
        try a.connect("0/d,")
        #expect(parent.children.first !== first)
    }

    @Test func anEmptyChildStaysWhereThatIsSet() throws {
        let server = self.makeServer { $0.removesEmptyDynamicNamespaces = false }
        let parent = server.namespaces { name, _ in name == "/d" }
        let client = try PollingClient(server)
        try client.connect("0/d,")
        try client.post("1/d,")
        #expect(parent.children.count == 1)
    }

    @Test func theirNumberIsBounded() throws {
        let server = self.makeServer { $0.maximumDynamicNamespaces = 2 }
        _ = server.namespaces { _, _ in true }
        let client = try PollingClient(server)
        try client.post("0/1,", "0/2,", "0/3,")
        #expect(try client.poll().last == #"4/3,{"message":"Invalid namespace"}"#)
        try client.post("1/1,")
        try client.connect("0/3,")
    }
}

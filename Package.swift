// swift-tools-version: 6.1
import PackageDescription

/// `APUS_STRICT` turns warnings into errors in the targets of this package; `make test` sets it.
let strict: [SwiftSetting] = Context.environment["APUS_STRICT"] == nil ? [] : [.unsafeFlags(["-warnings-as-errors"])]
let settings: [SwiftSetting] =
    [
        .enableUpcomingFeature("InternalImportsByDefault"),
        .enableUpcomingFeature("MemberImportVisibility"),
        .enableUpcomingFeature("ExistentialAny"),
    ] + strict

/// A product of another package. With `traits` it is resolved only where one of them is enabled.
func external(_ name: String, _ package: String, _ traits: Set<String> = []) -> Target.Dependency {
    .product(name: name, package: package, condition: traits.isEmpty ? nil : .when(traits: traits))
}

let nioCore = external("NIOCore", "swift-nio")
let nioPosix = external("NIOPosix", "swift-nio")
let nioHTTP1 = external("NIOHTTP1", "swift-nio")
let nioEmbedded = external("NIOEmbedded", "swift-nio")
let nioConcurrencyHelpers = external("NIOConcurrencyHelpers", "swift-nio")
let nioSSL = external("NIOSSL", "swift-nio-ssl")
let nioTLS = external("NIOTLS", "swift-nio")
let httpTypes = external("HTTPTypes", "swift-http-types")
let logging = external("Logging", "swift-log")
let dequeModule = external("DequeModule", "swift-collections")
let atomics = external("Atomics", "swift-atomics")
let crypto = external("Crypto", "swift-crypto")
let cryptoExtras = external("CryptoExtras", "swift-crypto")
let x509 = external("X509", "swift-certificates", ["ChatServer"])
let swiftASN1 = external("SwiftASN1", "swift-asn1")
let hummingbird = external("Hummingbird", "hummingbird", ["ChatServer"])
let hummingbirdCore = external("HummingbirdCore", "hummingbird", ["ChatServer"])
let asyncHTTPClient = external("AsyncHTTPClient", "async-http-client", ["ChatServer"])
let httpTypesForNIO = ["NIOHTTPTypes", "NIOHTTPTypesHTTP1"].map { external($0, "swift-nio-extras", ["ChatServer"]) }
let hummingbirdTesting = external("HummingbirdTesting", "hummingbird", ["ChatServer"])
let grdb = external("GRDB", "GRDB.swift", ["ChatClient", "ChatServer"])
let grdbSQLite = external("GRDBSQLite", "GRDB.swift", ["ChatServer"])
let serviceLifecycle = external("ServiceLifecycle", "swift-service-lifecycle", ["ChatServer", "Services"])
let unixSignals = external("UnixSignals", "swift-service-lifecycle", ["ChatServer", "Services"])
let metrics = external("Metrics", "swift-metrics", ["Observability"])
let metricsTestKit = external("MetricsTestKit", "swift-metrics", ["Observability"])
let tracing = external("Tracing", "swift-distributed-tracing", ["Observability"])
let inMemoryTracing = external("InMemoryTracing", "swift-distributed-tracing", ["Observability"])
let argumentParser = external("ArgumentParser", "swift-argument-parser", ["CommandLine"])
let histogram = external("Histogram", "hdrhistogram-swift", ["CommandLine"])

// swift-subprocess needs Swift 6.2. Without it, the chat server serves files without previews.
#if compiler(>=6.2)
    let subprocess: [Target.Dependency] = [
        .product(name: "Subprocess", package: "swift-subprocess", condition: .when(platforms: [.linux, .macOS], traits: ["ChatServer"]))
    ]
    let subprocessPackage: [Package.Dependency] = [.package(url: "https://github.com/swiftlang/swift-subprocess", from: "1.0.2")]
#else
    let subprocess: [Target.Dependency] = []
    let subprocessPackage: [Package.Dependency] = []
#endif

// The targets of this package have one set of settings.

func module(_ name: String, _ dependencies: [Target.Dependency], path: String? = nil, exclude: [String] = []) -> Target {
    .target(name: name, dependencies: dependencies, path: path, exclude: exclude, swiftSettings: settings)
}

func program(_ name: String, _ dependencies: [Target.Dependency], path: String? = nil, exclude: [String] = []) -> Target {
    .executableTarget(name: name, dependencies: dependencies, path: path, exclude: exclude, swiftSettings: settings)
}

func tests(_ name: String, _ dependencies: [Target.Dependency], exclude: [String] = []) -> Target {
    .testTarget(name: name, dependencies: dependencies, exclude: exclude, swiftSettings: settings)
}

/// The cores: no I/O, no clock, no lock.
let cores: [Target] = [
    module("ApusJSON", []),
    .systemLibrary(name: "CZlib", path: "Sources/CZlib", pkgConfig: "zlib", providers: [.apt(["zlib1g-dev"])]),
    module("ApusBytes", [nioCore]),
    module("ApusWebSocketProtocol", ["ApusBytes", "CZlib", nioCore, crypto, httpTypes]),
    module("ApusEngineIOProtocol", ["ApusBytes", "ApusJSON", nioCore, dequeModule]),
    module("ApusSocketIOProtocol", ["ApusBytes", "ApusEngineIOProtocol", "ApusJSON", nioCore, dequeModule]),
    module("ApusPictures", []),
    module("ApusArchive", ["CZlib", nioCore]),
    module("ApusWebPush", ["ApusJSON", crypto]),
    module("ApusLinkPreviews", []),
    module("ApusS3", [crypto]),
    module("ApusChatProtocol", ["ApusJSON"]),
    module("ApusChatReference", ["ApusChatProtocol", "ApusJSON"]),
    module("ApusChatStorage", ["ApusChatProtocol"]),
    module("ApusChatCore", ["ApusChatStorage", "ApusChatProtocol", "ApusJSON", dequeModule]),
    .target(name: "CCRC32C"),
    module("ApusFramedProtocol", ["ApusBytes", "ApusJSON", "CCRC32C", nioCore, crypto, dequeModule]),
]

/// The shells: sockets, tasks, clocks, disks. ApusEventLoop has the tools that the others share.
let shells: [Target] = [
    module("ApusEventLoop", [nioCore, nioPosix, nioConcurrencyHelpers, dequeModule]),
    module(
        "ApusConnectivity",
        [
            "ApusBytes", "ApusEventLoop", "CZlib", nioCore, nioPosix, nioTLS, nioSSL, nioHTTP1, nioConcurrencyHelpers, crypto, swiftASN1,
            dequeModule,
        ]),
    // Hashes of passwords, for the admin page and the chat server.
    module("ApusPasswords", [crypto, cryptoExtras]),
    // Certificates without an authority, for `apus` and the chat server.
    module("ApusCertificates", ["ApusConnectivity", crypto, swiftASN1, x509]),
    module(
        "ApusWebSocket",
        [
            "ApusBytes", "ApusConnectivity", "ApusEventLoop", "ApusWebSocketProtocol", nioCore, nioPosix, nioHTTP1, nioSSL,
            nioConcurrencyHelpers, httpTypes, crypto, atomics, dequeModule, logging,
        ]),
    module(
        "ApusFramedSocket",
        [
            "ApusConnectivity", "ApusEventLoop", "ApusFramedProtocol", "ApusJSON", nioCore, nioPosix, nioTLS, nioSSL, nioConcurrencyHelpers,
            dequeModule, crypto, logging,
        ]),
    module(
        "ApusEngineIOServer",
        [
            "ApusBytes", "ApusConnectivity", "ApusEngineIOProtocol", "ApusEventLoop", "ApusJSON", "ApusWebSocket", "ApusWebSocketProtocol",
            "CZlib", nioCore, nioPosix, nioHTTP1, nioConcurrencyHelpers, nioSSL, httpTypes, logging, atomics, dequeModule,
        ]),
    module(
        "ApusSocketIOServer",
        [
            "ApusBytes", "ApusConnectivity", "ApusEngineIOProtocol", "ApusEngineIOServer", "ApusEventLoop", "ApusJSON", "ApusPasswords",
            "ApusSocketIOProtocol", "ApusWebSocket", "ApusWebSocketProtocol", nioCore, nioHTTP1, nioPosix, crypto, nioConcurrencyHelpers,
            nioSSL, httpTypes, logging, atomics, dequeModule,
        ]),
    module(
        "ApusEngineIOClient",
        [
            "ApusBytes", "ApusConnectivity", "ApusEngineIOProtocol", "ApusEventLoop", "ApusJSON", "ApusWebSocket", "ApusWebSocketProtocol",
            nioCore, nioPosix, nioHTTP1, nioSSL, nioConcurrencyHelpers, httpTypes, logging, dequeModule,
        ]),
    module(
        "ApusSocketIOClient",
        [
            "ApusBytes", "ApusConnectivity", "ApusEngineIOClient", "ApusEngineIOProtocol", "ApusEventLoop", "ApusJSON",
            "ApusSocketIOProtocol", nioCore, nioPosix, nioConcurrencyHelpers, httpTypes, logging, dequeModule,
        ]),
    .target(name: "CSQLiteConfiguration"),
    module(
        "ApusChatSQLite", ["ApusChatStorage", "ApusChatProtocol", "ApusJSON", "CSQLiteConfiguration", grdbSQLite, nioConcurrencyHelpers]),
    module(
        "ApusChatHTTP",
        [
            "ApusArchive", "ApusBytes", "ApusChatCore", "ApusChatStorage", "ApusChatProtocol", "ApusConnectivity", "ApusEventLoop",
            "ApusJSON", "ApusPasswords", "ApusPictures", "ApusS3", "ApusWebPush", "ApusWebSocket", asyncHTTPClient, crypto, httpTypes,
            hummingbird, hummingbirdCore, logging, nioCore, nioConcurrencyHelpers, nioPosix, nioHTTP1,
        ] + subprocess),
    // The chat's server below HTTP: what it writes, and for whom.
    module(
        "ApusChatService",
        [
            "ApusChatCore", "ApusChatStorage", "ApusChatProtocol", "ApusEventLoop", "ApusJSON", "ApusSocketIOProtocol",
            "ApusSocketIOServer", crypto, dequeModule, logging, nioCore, nioConcurrencyHelpers, nioPosix,
        ]),
    // The program around the chat: listeners, configuration, the page, operations.
    module(
        "ApusChatServer",
        [
            "ApusBytes", "ApusChatCore", "ApusChatHTTP", "ApusChatSQLite", "ApusChatService", "ApusChatStorage", "ApusChatProtocol",
            "ApusCertificates", "ApusConnectivity", "ApusLinkPreviews", "ApusPasswords", "ApusS3", "ApusWebPush", "ApusEngineIOProtocol",
            "ApusEngineIOServer", "ApusEventLoop", "ApusJSON", "ApusSocketIOProtocol", "ApusSocketIOServer", "ApusWebSocket", crypto,
            httpTypes, hummingbird, hummingbirdCore, logging, nioCore, nioConcurrencyHelpers, nioHTTP1, nioPosix, nioSSL, serviceLifecycle,
        ] + httpTypesForNIO),
    // Servers and clients as services of swift-service-lifecycle.
    module(
        "ApusServices",
        [
            "ApusConnectivity", "ApusFramedSocket", "ApusSocketIOClient", "ApusSocketIOServer", "ApusWebSocket", "ApusWebSocketProtocol",
            nioCore, serviceLifecycle,
        ]),
    // Metrics and traces of a Socket.IO server.
    module("ApusObservability", ["ApusSocketIOServer", httpTypes, metrics, tracing]),
    // The names and calls of socket.io-client-swift.
    module(
        "ApusSocketIOClientCompatibility",
        [
            "ApusConnectivity", "ApusEngineIOClient", "ApusEngineIOProtocol", "ApusEventLoop", "ApusJSON", "ApusSocketIOClient",
            "ApusSocketIOProtocol", httpTypes, logging,
        ]),
    module(
        "ApusChatClient",
        [
            "ApusBytes", "ApusChatCore", "ApusChatProtocol", "ApusConnectivity", "ApusEngineIOClient", "ApusEventLoop", "ApusJSON",
            "ApusSocketIOClient", "ApusSocketIOProtocol", grdb, nioCore, nioPosix, nioHTTP1, nioConcurrencyHelpers, logging,
        ]),
    module("ApusChatTerminal", ["ApusBytes", "ApusChatClient", "ApusChatProtocol", "ApusEventLoop", "ApusJSON"]),
    // Repeatable random numbers, for the tests and the simulator. In no product.
    module("ApusSeededRandom", []),
    module(
        "ApusTesting",
        ["ApusSeededRandom", nioCore, nioPosix, nioConcurrencyHelpers, nioEmbedded, nioHTTP1, nioSSL, httpTypes, crypto, x509, swiftASN1]),
]

/// The code of the documentation, so that a build tells when it is wrong. In no product.
let examples: [Target] = [
    module(
        "Examples",
        [
            "ApusChatServer", "ApusConnectivity", "ApusEngineIOClient", "ApusEngineIOProtocol", "ApusEventLoop", "ApusFramedProtocol",
            "ApusFramedSocket", "ApusJSON", "ApusObservability", "ApusServices", "ApusSocketIOClient", "ApusSocketIOClientCompatibility",
            "ApusSocketIOProtocol", "ApusSocketIOServer", "ApusWebSocket", "ApusWebSocketProtocol", httpTypes, hummingbird, logging,
            nioCore, serviceLifecycle,
            unixSignals,
        ],
        path: "Examples", exclude: ["ChatClient", "README", "SwiftUIChat"]),
    // Of its own, because names of the chat client are also those of other examples.
    module("ChatClientExamples", ["ApusChatClient", "ApusChatProtocol", "ApusEventLoop"], path: "Examples/ChatClient"),
    // That of the README runs, too: `Conformance/test_readme.py`.
    program(
        "ReadmeExamples",
        [
            "ApusConnectivity", "ApusEventLoop", "ApusSocketIOClient", "ApusSocketIOServer", "ApusWebSocket", "ApusWebSocketProtocol",
            nioCore,
        ],
        path: "Examples/README"),
]

/// The command line, the load generator, and the peers of the conformance tests.
let programs: [Target] = [
    .target(name: "CFreedMemory"),
    module(
        "ApusCommandSupport",
        [
            "ApusConnectivity", "ApusEngineIOProtocol", "ApusFramedProtocol", "ApusSocketIOProtocol", "ApusWebSocketProtocol",
            "CFreedMemory", argumentParser, httpTypes, nioCore, unixSignals,
        ]),
    module(
        "ApusBench",
        [
            "ApusChatClient", "ApusChatProtocol", "ApusCommandSupport", "ApusConnectivity", "ApusEngineIOClient", "ApusEngineIOProtocol",
            "ApusEngineIOServer", "ApusEventLoop", "ApusFramedSocket", "ApusJSON", "ApusSocketIOClient", "ApusSocketIOProtocol",
            "ApusSocketIOServer", "ApusWebSocket", "ApusWebSocketProtocol", argumentParser, dequeModule, histogram, httpTypes, logging,
            nioCore, nioPosix, nioConcurrencyHelpers,
        ]),
    program(
        "apus",
        [
            "ApusBench", "ApusBytes", "ApusCertificates", "ApusChatClient", "ApusChatServer", "ApusChatProtocol", "ApusChatTerminal",
            "ApusCommandSupport", "ApusConnectivity", "ApusEngineIOClient", "ApusEngineIOProtocol", "ApusEventLoop", "ApusFramedProtocol",
            "ApusFramedSocket", "ApusJSON", "ApusSocketIOClient", "ApusSocketIOProtocol", "ApusWebSocket", "ApusWebSocketProtocol",
            argumentParser, crypto, httpTypes, logging, nioCore, nioPosix, nioSSL, nioConcurrencyHelpers, serviceLifecycle, unixSignals,
        ]),
    program(
        "ApusConformance",
        [
            "ApusChatHTTP", "ApusChatServer", "ApusChatSQLite", "ApusChatStorage", "ApusChatProtocol", "ApusCommandSupport",
            "ApusConnectivity", "ApusEngineIOClient", "ApusEngineIOProtocol", "ApusEngineIOServer", "ApusEventLoop", "ApusFramedProtocol",
            "ApusFramedSocket", "ApusJSON", "ApusPasswords", "ApusSocketIOClient", "ApusSocketIOProtocol", "ApusSocketIOServer",
            "ApusWebPush", "ApusWebSocket", "ApusWebSocketProtocol", argumentParser, crypto, hummingbird, logging, nioCore, nioPosix,
            nioSSL, nioConcurrencyHelpers,
        ]),

    // The chat's cores on a network with faults: `scripts/simulate`. In no release.
    program("ApusChatSimulator", ["ApusChatCore", "ApusChatStorage", "ApusChatProtocol", "ApusJSON", "ApusSeededRandom", dequeModule]),
]

let testTargets: [Target] = [
    tests(
        "ApusCommandTests",
        [
            "ApusChatClient", "ApusChatProtocol", "ApusCommandSupport", "ApusConnectivity", "ApusEngineIOProtocol", "ApusFramedProtocol",
            "ApusFramedSocket", "ApusJSON", "ApusSocketIOProtocol", "apus", argumentParser, httpTypes, nioCore,
        ]),
    tests(
        "ApusBenchTests",
        ["ApusBench", "ApusEngineIOProtocol", "ApusSocketIOServer", "ApusTesting", "ApusWebSocket", nioCore, nioEmbedded]),
    tests("ApusBytesTests", ["ApusBytes", nioCore]),
    tests("ApusJSONTests", ["ApusJSON", "ApusSeededRandom"]),
    tests(
        "ApusEventLoopTests", ["ApusEventLoop", "ApusSeededRandom", nioCore, nioEmbedded, nioPosix, nioConcurrencyHelpers]),
    tests(
        "ApusConnectivityTests",
        [
            "ApusConnectivity", "ApusEventLoop", "ApusSeededRandom", "ApusTesting", nioCore, nioPosix, nioEmbedded, nioSSL, nioHTTP1,
            nioConcurrencyHelpers, crypto, x509, swiftASN1,
        ]),
    tests("ApusWebSocketProtocolTests", ["ApusWebSocketProtocol", nioCore, httpTypes]),
    tests(
        "ApusWebSocketTests",
        [
            "ApusConnectivity", "ApusEventLoop", "ApusWebSocket", "ApusWebSocketProtocol", nioCore, nioPosix, nioEmbedded, nioHTTP1,
            nioConcurrencyHelpers, nioSSL, httpTypes, x509, swiftASN1, crypto,
        ]),
    tests(
        "ApusFramedSocketTests",
        [
            "ApusConnectivity", "ApusEventLoop", "ApusFramedProtocol", "ApusFramedSocket", "ApusJSON", "ApusTesting", nioCore, nioPosix,
            nioEmbedded, nioTLS, nioSSL, nioConcurrencyHelpers, x509, swiftASN1, crypto,
        ]),
    tests("ApusFramedProtocolTests", ["ApusFramedProtocol", "ApusJSON", "ApusSeededRandom", nioCore, crypto]),
    tests("ApusEngineIOProtocolTests", ["ApusEngineIOProtocol", "ApusJSON", nioCore]),
    tests("ApusSocketIOProtocolTests", ["ApusEngineIOProtocol", "ApusJSON", "ApusSeededRandom", "ApusSocketIOProtocol", nioCore]),
    tests(
        "ApusEngineIOServerTests",
        [
            "ApusConnectivity", "ApusEngineIOProtocol", "ApusEngineIOServer", "ApusTesting", "ApusWebSocket", "ApusWebSocketProtocol",
            nioCore, nioEmbedded, nioHTTP1, nioConcurrencyHelpers, httpTypes, logging,
        ]),
    tests(
        "ApusSocketIOServerTests",
        [
            "ApusEngineIOProtocol", "ApusEngineIOServer", "ApusJSON", "ApusSocketIOProtocol", "ApusSocketIOServer", "ApusTesting",
            nioConcurrencyHelpers, nioCore, nioEmbedded, nioHTTP1, httpTypes, logging,
        ]),
    tests(
        "ApusEngineIOClientTests", ["ApusConnectivity", "ApusEngineIOClient", "ApusEngineIOProtocol", nioCore, nioEmbedded, logging]),
    tests(
        "ApusSocketIOClientTests",
        [
            "ApusConnectivity", "ApusEngineIOClient", "ApusEngineIOProtocol", "ApusEventLoop", "ApusJSON", "ApusSocketIOClient",
            "ApusSocketIOClientCompatibility", "ApusSocketIOProtocol", "ApusWebSocket", "ApusWebSocketProtocol", nioCore,
            nioConcurrencyHelpers, httpTypes, logging,
        ]),
    tests("ApusPasswordsTests", ["ApusPasswords"]),
    tests("ApusPicturesTests", ["ApusPictures"]),
    tests("ApusArchiveTests", ["ApusArchive", nioCore]),
    tests("ApusWebPushTests", ["ApusJSON", "ApusWebPush", crypto]),
    tests("ApusLinkPreviewsTests", ["ApusLinkPreviews"]),
    tests("ApusS3Tests", ["ApusS3"]),
    tests("ApusChatProtocolTests", ["ApusChatReference", "ApusChatProtocol", "ApusJSON", "ApusSeededRandom"]),
    tests("ApusChatCoreTests", ["ApusChatCore", "ApusChatStorage", "ApusChatProtocol", "ApusJSON", "ApusSeededRandom"]),
    tests("ApusChatSimulatorTests", ["ApusChatCore", "ApusChatProtocol", "ApusChatSimulator", "ApusChatStorage", "ApusJSON"]),
    tests(
        "ApusChatStorageTests",
        ["ApusChatSQLite", "ApusChatStorage", "ApusChatProtocol", "ApusSeededRandom", grdbSQLite, nioConcurrencyHelpers],
        exclude: ["Fixtures"]),
    tests(
        "ApusChatHTTPTests",
        [
            "ApusChatCore", "ApusChatHTTP", "ApusChatReference", "ApusChatSQLite", "ApusChatStorage", "ApusChatProtocol",
            "ApusConnectivity", "ApusJSON", "ApusPasswords", "ApusS3", "ApusSeededRandom", "ApusSocketIOServer", "ApusWebSocket", crypto,
            httpTypes, hummingbird, hummingbirdTesting, logging, nioCore, nioConcurrencyHelpers, nioEmbedded,
        ]),
    tests(
        "ApusChatServerTests",
        [
            "ApusChatCore", "ApusChatHTTP", "ApusChatServer", "ApusChatSQLite", "ApusChatService", "ApusChatStorage", "ApusCertificates",
            "ApusChatProtocol", "ApusConnectivity", "ApusEngineIOClient", "ApusEngineIOProtocol", "ApusEngineIOServer", "ApusEventLoop",
            "ApusJSON", "ApusPasswords", "ApusLinkPreviews", "ApusSeededRandom", "ApusSocketIOClient", "ApusSocketIOServer", "ApusWebPush",
            "ApusWebSocket", crypto, httpTypes, logging, nioCore, nioConcurrencyHelpers, nioEmbedded, nioHTTP1, nioPosix, nioSSL,
            serviceLifecycle, x509,
        ]),
    tests(
        "ApusChatServiceTests",
        [
            "ApusChatCore", "ApusChatReference", "ApusChatSQLite", "ApusChatService", "ApusChatStorage", "ApusChatProtocol",
            "ApusEventLoop", "ApusJSON", "ApusSocketIOClient", "ApusSocketIOProtocol", "ApusSocketIOServer", logging, nioCore,
            nioConcurrencyHelpers, nioEmbedded, nioPosix,
        ]),
    tests(
        "ApusServicesTests",
        [
            "ApusEventLoop", "ApusFramedSocket", "ApusServices", "ApusSocketIOClient", "ApusSocketIOProtocol", "ApusSocketIOServer",
            "ApusWebSocket", "ApusWebSocketProtocol", logging, nioCore, serviceLifecycle,
        ]),
    tests(
        "ApusObservabilityTests",
        [
            "ApusObservability", "ApusSocketIOServer", "ApusTesting", inMemoryTracing, logging, metrics, metricsTestKit,
            nioConcurrencyHelpers, tracing,
        ]),
    tests("ApusChatTerminalTests", ["ApusChatClient", "ApusChatTerminal", "ApusChatProtocol", "ApusJSON", "ApusSeededRandom"]),
    tests(
        "ApusChatClientTests",
        [
            "ApusChatCore", "ApusChatClient", "ApusChatReference", "ApusChatStorage", "ApusChatTerminal", "ApusChatProtocol",
            "ApusEventLoop", "ApusJSON", "ApusSeededRandom", grdb, grdbSQLite, logging, nioConcurrencyHelpers,
        ]),
    // The client of the new chat at its server.
    tests(
        "ApusChatLiveTests",
        [
            "ApusChatCore", "ApusChatHTTP", "ApusChatClient", "ApusChatSQLite", "ApusChatService", "ApusChatStorage", "ApusChatProtocol",
            "ApusEventLoop", "ApusJSON", "ApusPasswords", "ApusSocketIOServer", hummingbird, logging, nioCore, nioConcurrencyHelpers,
            nioPosix,
        ]),
    tests(
        "IntegrationTests",
        [
            "ApusConnectivity", "ApusEngineIOClient", "ApusEngineIOProtocol", "ApusEngineIOServer", "ApusEventLoop", "ApusJSON",
            "ApusSocketIOClient", "ApusSocketIOProtocol", "ApusSocketIOServer", "ApusTesting", "ApusWebSocket", "ApusWebSocketProtocol",
            nioCore, nioPosix, nioSSL, nioHTTP1, nioConcurrencyHelpers, hummingbird, httpTypes, serviceLifecycle, x509, logging,
        ]),
]

/// The library products.
let libraries = [
    "ApusJSON", "ApusEventLoop", "ApusWebSocketProtocol", "ApusEngineIOProtocol", "ApusSocketIOProtocol", "ApusFramedProtocol",
    "ApusConnectivity", "ApusWebSocket", "ApusFramedSocket", "ApusEngineIOServer", "ApusEngineIOClient", "ApusSocketIOServer",
    "ApusSocketIOClient", "ApusSocketIOClientCompatibility", "ApusServices", "ApusObservability", "ApusChatServer", "ApusChatClient",
    "ApusChatProtocol",
]

let package = Package(
    name: "apus",
    platforms: [.macOS(.v14), .iOS(.v17), .tvOS(.v17), .watchOS(.v10), .visionOS(.v1)],
    products: libraries.map { .library(name: $0, targets: [$0]) } + [.executable(name: "apus", targets: ["apus"])],
    // None is on by default: a package that wants fewer traits than another one that uses Apus
    // could not be resolved beside it.
    traits: [
        .trait(name: "ChatClient", description: "ApusChatClient, with GRDB"),
        .trait(name: "ChatServer", description: "ApusChatServer, with GRDB and hummingbird"),
        .trait(name: "Services", description: "ApusServices, with swift-service-lifecycle"),
        .trait(name: "Observability", description: "ApusObservability, with swift-metrics and swift-distributed-tracing"),
        .trait(
            name: "CommandLine", description: "The program apus, with swift-argument-parser", enabledTraits: ["ChatClient", "ChatServer"]),
        .default(enabledTraits: []),
    ],
    dependencies: [
        .package(url: "https://github.com/apple/swift-nio", from: "2.101.2"),
        .package(url: "https://github.com/apple/swift-nio-ssl", from: "2.37.0"),
        .package(url: "https://github.com/apple/swift-http-types", from: "1.8.0"),
        .package(url: "https://github.com/apple/swift-log", from: "1.16.0"),
        .package(url: "https://github.com/apple/swift-collections", from: "1.6.0"),
        .package(url: "https://github.com/apple/swift-atomics", from: "1.3.0"),
        .package(url: "https://github.com/apple/swift-crypto", from: "4.5.0"),
        .package(url: "https://github.com/apple/swift-certificates", from: "1.21.0"),
        .package(url: "https://github.com/apple/swift-asn1", from: "1.7.0"),
        .package(url: "https://github.com/apple/swift-nio-extras", from: "1.35.0"),
        .package(url: "https://github.com/hummingbird-project/hummingbird", from: "2.28.0"),
        .package(url: "https://github.com/swift-server/async-http-client", from: "1.37.0"),
        .package(url: "https://github.com/groue/GRDB.swift", from: "7.10.0"),
        .package(url: "https://github.com/swift-server/swift-service-lifecycle", from: "2.13.0"),
        .package(url: "https://github.com/apple/swift-metrics", from: "2.13.0"),
        .package(url: "https://github.com/apple/swift-distributed-tracing", from: "1.7.0"),
        .package(url: "https://github.com/apple/swift-argument-parser", from: "1.8.0"),
        .package(url: "https://github.com/HdrHistogram/hdrhistogram-swift", from: "0.2.0"),
    ] + subprocessPackage,
    targets: cores + shells + examples + programs + testTargets,
    swiftLanguageModes: [.v6]
)

if Context.environment["APUS_FUZZ"] != nil {
    // NIOHTTPTypes is the other reader of request heads, beside which ours is fuzzed.
    for (name, dependencies) in [
        ("FuzzJSON", ["ApusJSON"]),
        ("FuzzWebSocket", ["ApusWebSocketProtocol"]),
        ("FuzzWebSocketMessage", ["ApusWebSocketProtocol"]),
        ("FuzzDeflate", ["ApusWebSocketProtocol"]),
        ("FuzzHandshake", ["ApusWebSocketProtocol"]),
        ("FuzzRequestHead", ["ApusWebSocketProtocol"]),
        ("FuzzEngineIO", ["ApusBytes", "ApusEngineIOProtocol"]),
        ("FuzzFraming", ["ApusFramedProtocol"]),
        ("FuzzSession", ["ApusFramedProtocol", "ApusJSON"]),
        ("FuzzTransfer", ["ApusFramedProtocol", "ApusJSON"]),
        ("FuzzSocketIO", ["ApusEngineIOProtocol", "ApusSocketIOProtocol"]),
        ("FuzzMessagePack", ["ApusEngineIOProtocol", "ApusSocketIOProtocol"]),
    ] {
        let targets = dependencies.map { Target.Dependency.target(name: $0) }
        package.targets.append(
            module(
                name,
                targets + [
                    nioCore, nioEmbedded, nioHTTP1, httpTypes, external("NIOHTTPTypes", "swift-nio-extras"),
                    external("NIOHTTPTypesHTTP1", "swift-nio-extras"),
                ], path: "FuzzTesting/\(name)", exclude: ["Seeds"]))
        package.products.append(.library(name: name, type: .static, targets: [name]))
    }
}

// Programs that count and measure: `scripts/check-allocations`, `Benchmarks/Micro`.
if Context.environment["APUS_BENCHMARKS"] != nil {
    package.targets += [
        .target(name: "CAllocationCounter", path: "Benchmarks/Allocations/CAllocationCounter"),
        module(
            "BenchmarkWork",
            [
                "ApusBytes", "ApusConnectivity", "ApusEngineIOProtocol", "ApusFramedProtocol", "ApusJSON", "ApusSocketIOProtocol",
                "ApusSocketIOServer", "ApusWebSocket", "ApusWebSocketProtocol", logging, nioCore, nioEmbedded,
            ], path: "Benchmarks/Work"),
        program(
            "AllocationCheck",
            ["ApusSocketIOServer", "ApusWebSocket", "ApusWebSocketProtocol", "BenchmarkWork", "CAllocationCounter", nioCore, nioPosix],
            path: "Benchmarks/Allocations/AllocationCheck"),
        program(
            "ChatStorageBenchmark", ["ApusChatSQLite", "ApusChatStorage", "ApusChatProtocol"], path: "Benchmarks/ChatStorage",
            exclude: ["run"]),
        program("ChatCoreBenchmark", ["ApusChatCore", "ApusChatStorage", "ApusChatProtocol"], path: "Benchmarks/ChatCore"),
        program(
            "ChatClientBenchmark", ["ApusChatCore", "ApusChatClient", "ApusChatProtocol", "ApusJSON"], path: "Benchmarks/ChatClient",
            exclude: ["run"]),
    ]
    for name in ["AllocationCheck", "ChatClientBenchmark", "ChatCoreBenchmark", "ChatStorageBenchmark"] {
        package.products.append(.executable(name: name, targets: [name]))
    }
}
if Context.environment["APUS_BENCHMARKS"] == "micro" {
    // Without its traits, whose packages are not available everywhere.
    package.dependencies.append(.package(url: "https://github.com/ordo-one/benchmark", from: "1.38.1", traits: []))
    package.targets.append(
        .executableTarget(
            name: "MicroBenchmarks",
            dependencies: ["BenchmarkWork", "CAllocationCounter", .product(name: "Benchmark", package: "benchmark")],
            path: "Benchmarks/Micro", exclude: ["run"], swiftSettings: settings,
            plugins: [.plugin(name: "BenchmarkPlugin", package: "benchmark")]))
}

// `scripts/tsan` builds one layer alone: the targets named here and what they depend on.
if let only = Context.environment["APUS_ONLY"] {
    var open = only.split(separator: ",").map(String.init)
    var names = Set(open)
    while let name = open.popLast() {
        for dependency in package.targets.first(where: { $0.name == name })?.dependencies ?? [] {
            switch dependency {
            case .byNameItem(let name, _), .targetItem(let name, _): if names.insert(name).inserted { open.append(name) }
            default: break
            }
        }
    }
    package.targets.removeAll { !names.contains($0.name) }
    package.products.removeAll { !names.contains($0.name) }
}

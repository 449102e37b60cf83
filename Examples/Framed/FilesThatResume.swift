// The code of the page "Send a file that resumes". `scripts/check-snippets` compares the two.
import ApusConnectivity
import ApusFramedProtocol
import ApusFramedSocket

func takeFiles(into path: String, port: Int) async throws {
    let folder = try ReceivingFolder(path: path)
    folder.removeAbandoned()
    var receiving = FileReceiving(into: folder) { event in
        switch event.kind {
        case .began(let offset): print(event.offeredName, "from", offset, "of", event.size)
        case .progress(let durableBytes): print(event.offeredName, durableBytes)
        case .completed(let name): print(name, "is there")
        case .failed(let error): print(event.offeredName, "stopped:", error)
        }
    }
    receiving.recognizesFinished = true
    var configuration = FramedServerConfiguration()
    configuration.connection.receiving = receiving
    let server = FramedServer(configuration: configuration) { connection in
        _ = await connection.waitUntilClosed()
    }
    try await server.run(host: "127.0.0.1", port: port)
}

func takePictures(_ receiving: inout FileReceiving) {
    receiving.refuses = { connection, name, size in
        name.components.last?.hasSuffix(".jpg") == true ? nil : TransferError(.refused, message: "only pictures are taken")
    }
}

func sendFilm() async throws {
    let connection = try await FramedClient.connect(host: "127.0.0.1", port: 8080)
    try await connection.send(file: "film.mp4") { print($0.fraction) }
    await connection.close()
}

func sendWhateverHappens(_ path: String, to host: String) async throws {
    let sent = try await FramedClient.withReconnection(host: host, port: 8080) { connection in
        try await connection.send(files: [path])
    }
    print(sent.completed, "files are there")
}

func sendAlbum(over connection: FramedConnection) async throws {
    var sending = FileSending { event in
        switch event.kind {
        case .completed: print(event.name)
        case .leftOut(let why): print(event.name, "is not sent:", why)
        case .failed(let error): print(event.name, "was not sent:", error)
        case .offered, .began, .progress, .busy: break
        }
    }
    sending.maximumConcurrentFiles = 8
    let sent = try await connection.send(folder: "album", sending)
    print(sent.completed, "files", sent.failed, "failed")
}

func connectPinned(to host: String, _ fingerprint: CertificateFingerprint) async throws -> FramedConnection {
    try await FramedClient.connect(host: host, port: 8080, configuration: FramedClientConfiguration(tls: .pinned(fingerprint)))
}

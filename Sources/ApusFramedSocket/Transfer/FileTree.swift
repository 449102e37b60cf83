import ApusFramedProtocol

#if canImport(Darwin)
    import Darwin
#elseif canImport(Musl)
    import Musl
#else
    import Glibc
#endif

/// The files and empty folders at some paths and below them, with each folder sorted by name.
///
/// Links are followed only if they are given as a path. Only the names in the current folders are
/// in memory, not the names of all files. Its methods block.
struct FileTree: Sequence, IteratorProtocol, Sendable {
    enum Entry: Sendable, Equatable {
        /// The size is `nil` if the file was not examined.
        case file(path: String, name: String, size: Int?, followsLinks: Bool)
        case emptyFolder(path: String, name: String)
        /// A link, or an entry that is neither a file nor a folder.
        case leftOut(name: String, SentFileEvent.Omission)
        case failed(name: String, TransferError)
    }

    private struct Folder: Sendable {
        var path: String
        var name: String
        /// The remaining entries, in reverse order.
        var names: [Name]
    }

    private struct Name: Sendable {
        var text: String
        /// Whether the directory entry is known to be a regular file.
        var isFile: Bool
    }

    /// The remaining paths, in reverse order.
    private var roots: [String]
    private var folders: [Folder] = []
    private let name: String?
    private let readsSizes: Bool

    /// Creates a sequence of the entries at and below the paths.
    ///
    /// - Parameters:
    ///   - name: Replaces the name of the path; only for a single path.
    ///   - readsSizes: Whether to determine the sizes of all files. Not needed if the files are
    ///     opened later.
    init(_ paths: [String], as name: String? = nil, readsSizes: Bool = true) {
        self.roots = paths.reversed()
        self.name = name
        self.readsSizes = readsSizes
    }

    mutating func next() -> Entry? {
        while true {
            if let last = self.folders.indices.last {
                guard let entry = self.folders[last].names.popLast() else {
                    self.folders.removeLast()
                    continue
                }
                let path = self.folders[last].path + "/" + entry.text
                let name = self.folders[last].name + "/" + entry.text
                guard self.readsSizes || !entry.isFile else { return .file(path: path, name: name, size: nil, followsLinks: false) }
                if let entry = self.look(at: path, name: name, isRoot: false) { return entry }
            } else if let root = self.roots.popLast() {
                if let entry = self.look(at: root, name: self.name ?? Self.name(of: root), isRoot: true) { return entry }
            } else {
                return nil
            }
        }
    }

    /// Returns an entry, or `nil` for a folder, whose entries come next.
    private mutating func look(at path: String, name: String, isRoot: Bool) -> Entry? {
        do throws(TransferError) {
            let status = try FileDescriptor.status(atPath: path, followsLinks: isRoot)
            if status.isFile { return .file(path: path, name: name, size: status.size, followsLinks: isRoot) }
            if status.isLink { return .leftOut(name: name, .link) }
            guard status.isFolder else { return .leftOut(name: name, .notAFile) }
            _ = try SafeFileName(name)  // rejects a name that is too long or too deep before reading the folder
            let names = try Self.names(in: path)
            guard !names.isEmpty else { return .emptyFolder(path: path, name: name) }
            self.folders.append(Folder(path: path, name: name, names: names))
            return nil
        } catch {
            return .failed(name: name, error)
        }
    }

    /// Returns the last component of a path, or the name of the folder for paths such as `.`.
    static func name(of path: String) -> String {
        let last = path.split(separator: "/").last.map(String.init) ?? ""
        guard ["", ".", ".."].contains(last), let real = realpath(path, nil) else { return last }
        defer { free(real) }
        return String(cString: real).split(separator: "/").last.map(String.init) ?? ""
    }

    private static func names(in path: String) throws(TransferError) -> [Name] {
        guard let stream = opendir(path) else { throw FileDescriptor.error("the folder cannot be opened", .source) }
        defer { closedir(stream) }
        var names: [Name] = []
        errno = 0
        while let entry = readdir(stream) {
            let name = FileDescriptor.name(of: entry)
            if name != ".", name != ".." { names.append(Name(text: name, isFile: FileDescriptor.isFile(entry))) }
            errno = 0
        }
        guard errno == 0 else { throw FileDescriptor.error("the folder cannot be read", .source) }
        return names.sorted { $0.text > $1.text }
    }
}

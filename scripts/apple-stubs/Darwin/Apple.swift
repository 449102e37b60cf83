// swift-format-ignore-file: AllPublicDeclarationsHaveDocumentation
// A stub of Apple's Darwin module for `scripts/check-apple`. It is never linked or run. This file
// declares the C names that Sources uses and that have other types on Apple platforms than in
// Glibc, or exist there only. `Shared.swift` re-exports the others. A name in neither is an error,
// so that its type on Apple platforms is looked up before it is used.
//
// Sources: the manual pages open(2), fcntl(2), stat(2), opendir(3) and statvfs(3) of macOS;
// bsd/sys/stat.h, dirent.h, fcntl.h, resource.h, socket.h and _types in
// https://github.com/apple-oss-distributions/xnu; include/dirent.h and include/sys/statvfs.h in
// https://github.com/apple-oss-distributions/Libc; for the functions with a variable number of
// arguments and for S_IF…, stdlib/public/Platform/Platform.swift in
// https://github.com/swiftlang/swift. Imported C functions have discardable results.

// MARK: Types

public typealias mode_t = UInt16
public typealias dev_t = Int32
public typealias nlink_t = UInt16
public typealias ino_t = UInt64
public typealias off_t = Int64
public typealias rlim_t = UInt64
public typealias fsblkcnt_t = UInt32
public typealias fsfilcnt_t = UInt32

// MARK: Opening

public func open(_ path: UnsafePointer<CChar>, _ oflag: Int32) -> Int32 { -1 }
public func open(_ path: UnsafePointer<CChar>, _ oflag: Int32, _ mode: mode_t) -> Int32 { -1 }
public func openat(_ fd: Int32, _ path: UnsafePointer<CChar>, _ oflag: Int32) -> Int32 { -1 }
public func openat(_ fd: Int32, _ path: UnsafePointer<CChar>, _ oflag: Int32, _ mode: mode_t) -> Int32 { -1 }

@discardableResult
public func mkdirat(_ fd: Int32, _ path: UnsafePointer<CChar>!, _ mode: mode_t) -> Int32 { -1 }

@discardableResult
public func mkdir(_ path: UnsafePointer<CChar>!, _ mode: mode_t) -> Int32 { -1 }

// MARK: Descriptors

public var SEEK_END: Int32 { 2 }

@discardableResult
public func lseek(_ fd: Int32, _ offset: off_t, _ whence: Int32) -> off_t { -1 }

public var F_FULLFSYNC: Int32 { 51 }
public var F_SETNOSIGPIPE: Int32 { 73 }

/// Like in Glibc, where a structure has the same name and prevents the re-export.
@discardableResult
public func flock(_ fd: Int32, _ operation: Int32) -> Int32 { -1 }

@discardableResult
public func ftruncate(_ fd: Int32, _ length: off_t) -> Int32 { -1 }

@discardableResult
public func pread(_ fd: Int32, _ buffer: UnsafeMutableRawPointer!, _ count: Int, _ offset: off_t) -> Int { -1 }

@discardableResult
public func pwrite(_ fd: Int32, _ buffer: UnsafeRawPointer!, _ count: Int, _ offset: off_t) -> Int { -1 }

@discardableResult
public func fchmod(_ fd: Int32, _ mode: mode_t) -> Int32 { -1 }

// MARK: Status

public var S_IFMT: mode_t { 0o170000 }
public var S_IFDIR: mode_t { 0o040000 }
public var S_IFREG: mode_t { 0o100000 }
public var R_OK: Int32 { 4 }
public var W_OK: Int32 { 2 }
public var S_IFLNK: mode_t { 0o120000 }

/// With 64-bit inode numbers. Without the fields that Sources does not use.
public struct stat {
    public init() {}

    public var st_dev = dev_t()
    public var st_mode = mode_t()
    public var st_nlink = nlink_t()
    public var st_ino = ino_t()
    public var st_mtimespec = timespec()
    public var st_size = off_t()
}

@discardableResult
public func fstat(_ fd: Int32, _ status: UnsafeMutablePointer<stat>!) -> Int32 { -1 }

@discardableResult
public func fstatat(_ fd: Int32, _ path: UnsafePointer<CChar>!, _ status: UnsafeMutablePointer<stat>!, _ flag: Int32) -> Int32 { -1 }

public struct statvfs {
    public init() {}

    public var f_bsize = UInt()
    public var f_frsize = UInt()
    public var f_blocks = fsblkcnt_t()
    public var f_bfree = fsblkcnt_t()
    public var f_bavail = fsblkcnt_t()
    public var f_files = fsfilcnt_t()
    public var f_ffree = fsfilcnt_t()
    public var f_favail = fsfilcnt_t()
    public var f_fsid = UInt()
    public var f_flag = UInt()
    public var f_namemax = UInt()
}

@discardableResult
public func fstatvfs(_ fd: Int32, _ status: UnsafeMutablePointer<statvfs>!) -> Int32 { -1 }

// MARK: Folders

/// Complete on Apple platforms, and so not an opaque pointer.
public struct DIR {}

public var DT_REG: Int32 { 8 }

/// The name has 1,024 elements. Sources uses only its offset.
public struct dirent {
    public init() {}

    public var d_ino = UInt64()
    public var d_seekoff = UInt64()
    public var d_reclen = UInt16()
    public var d_namlen = UInt16()
    public var d_type = UInt8()
    public var d_name: (CChar, CChar) = (0, 0)
}

public func opendir(_ path: UnsafePointer<CChar>!) -> UnsafeMutablePointer<DIR>! { nil }
public func fdopendir(_ fd: Int32) -> UnsafeMutablePointer<DIR>! { nil }
public func readdir(_ stream: UnsafeMutablePointer<DIR>!) -> UnsafeMutablePointer<dirent>! { nil }

@discardableResult
public func closedir(_ stream: UnsafeMutablePointer<DIR>!) -> Int32 { -1 }

// MARK: Sockets

public var SOCK_STREAM: Int32 { 1 }

// MARK: Limits

public var RLIMIT_NOFILE: Int32 { 8 }

public struct rlimit {
    public init() {}

    public var rlim_cur = rlim_t()
    public var rlim_max = rlim_t()
}

@discardableResult
public func getrlimit(_ resource: Int32, _ limit: UnsafeMutablePointer<rlimit>!) -> Int32 { -1 }

@discardableResult
public func setrlimit(_ resource: Int32, _ limit: UnsafePointer<rlimit>!) -> Int32 { -1 }

// MARK: Clocks and system values

public struct clockid_t: Equatable, RawRepresentable, Sendable {
    public var rawValue: UInt32

    public init(_ rawValue: UInt32) { self.rawValue = rawValue }
    public init(rawValue: UInt32) { self.rawValue = rawValue }
}

public var CLOCK_PROCESS_CPUTIME_ID: clockid_t { clockid_t(12) }

@discardableResult
public func clock_gettime(_ clock: clockid_t, _ time: UnsafeMutablePointer<timespec>!) -> Int32 { -1 }

public var _SC_CLK_TCK: Int32 { 3 }
public var _SC_NPROCESSORS_ONLN: Int32 { 58 }
public var _SC_PAGESIZE: Int32 { 29 }

// MARK: Processor time

public typealias clock_t = UInt
public var CLOCKS_PER_SEC: clock_t { 1_000_000 }

public func clock() -> clock_t { 0 }

#if canImport(Darwin)
    import Darwin
#else
    import Glibc
#endif

/// Lets a program that reads our output through a pipe see the line now.
func flushStandardOutput() {
    fflush(nil)
}

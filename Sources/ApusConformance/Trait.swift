#if !CommandLine
    #error("ApusConformance requires the trait CommandLine: swift build --enable-all-traits")
#endif

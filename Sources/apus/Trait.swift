#if !CommandLine
    #error("apus requires the trait CommandLine: swift build --enable-all-traits")
#endif

#if !CommandLine
    #error("ApusBench requires the trait CommandLine: swift build --enable-all-traits")
#endif

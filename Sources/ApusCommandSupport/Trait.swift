#if !CommandLine
    #error("ApusCommandSupport requires the trait CommandLine: swift build --enable-all-traits")
#endif

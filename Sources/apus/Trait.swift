#if !CommandLine
    #error("apus needs the trait CommandLine: swift build --enable-all-traits")
#endif

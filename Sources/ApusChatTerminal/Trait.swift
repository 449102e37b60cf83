#if !ChatClient
    #error("ApusChatTerminal requires the trait ChatClient: swift build --enable-all-traits")
#endif

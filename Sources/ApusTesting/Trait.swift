#if !ChatServer
    #error("ApusTesting requires the trait ChatServer: swift build --enable-all-traits")
#endif

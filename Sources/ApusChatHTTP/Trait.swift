#if !ChatServer
    #error("ApusChatHTTP requires the trait ChatServer of the package apus: .package(url: …, traits: [\"ChatServer\"])")
#endif

#if !ChatServer
    #error("ApusChatHTTP needs the trait ChatServer of the package apus: .package(url: …, traits: [\"ChatServer\"])")
#endif

#if !ChatServer
    #error("ApusChatSQLite requires the trait ChatServer of the package apus: .package(url: …, traits: [\"ChatServer\"])")
#endif

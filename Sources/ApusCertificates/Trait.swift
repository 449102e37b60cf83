#if !ChatServer
    #error("ApusCertificates needs the trait ChatServer of the package apus: .package(url: …, traits: [\"ChatServer\"])")
#endif

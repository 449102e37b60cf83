#if !ChatClient
    #error("ApusChatClient needs the trait ChatClient of the package apus: .package(url: …, traits: [\"ChatClient\"])")
#endif

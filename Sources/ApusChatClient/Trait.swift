#if !ChatClient
    #error("ApusChatClient requires the trait ChatClient of the package apus: .package(url: …, traits: [\"ChatClient\"])")
#endif

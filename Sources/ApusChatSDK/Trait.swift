#if !ChatClient
    #error("ApusChatSDK needs the trait ChatClient of the package apus: .package(url: …, traits: [\"ChatClient\"])")
#endif

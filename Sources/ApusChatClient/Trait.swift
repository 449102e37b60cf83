#if !Chat
    #error("ApusChatClient needs the trait Chat of the package apus: .package(url: …, traits: [\"Chat\"])")
#endif

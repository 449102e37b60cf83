#if !ChatClient
    #error("ChatClientExamples requires the trait ChatClient: swift build --enable-all-traits")
#endif

#if !Services
    #error("ApusServices needs the trait Services of the package apus: .package(url: …, traits: [\"Services\"])")
#endif

#if !Services
    #error("ApusServices requires the trait Services of the package apus: .package(url: …, traits: [\"Services\"])")
#endif

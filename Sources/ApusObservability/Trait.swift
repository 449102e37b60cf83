#if !Observability
    #error("ApusObservability requires the trait Observability of the package apus: .package(url: …, traits: [\"Observability\"])")
#endif

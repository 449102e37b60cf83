#if !ChatServer
    #error("Examples requires the trait ChatServer: swift build --enable-all-traits")
#endif
#if !Services
    #error("Examples requires the trait Services: swift build --enable-all-traits")
#endif
#if !Observability
    #error("Examples requires the trait Observability: swift build --enable-all-traits")
#endif

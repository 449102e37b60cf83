import Testing

@testable import ApusCommandSupport

@Suite struct EventLoopThreadsTests {
    @Test(arguments: [
        ("Name:\tapus\nCpus_allowed:\t3\nCpus_allowed_list:\t0-1\n", 2), ("Cpus_allowed:\t00000000,00000002\n", 1),
        ("Cpus_allowed:\tffffffff,ffffffff\n", 64), ("Cpus_allowed_list:\t0-1\n", nil), ("Cpus_allowed:\t\n", nil), ("", nil),
    ])
    func processorsAreCounted(status: String, count: Int?) {
        #expect(EventLoopThreads.allowedProcessors(status: status) == count)
    }
}

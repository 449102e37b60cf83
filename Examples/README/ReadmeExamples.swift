/// Runs the code of the README for `Conformance/test_readme.py`: `ReadmeExamples client`, `server`
/// or `feed`. `scripts/check-snippets` compares the README with this folder.
@main struct ReadmeExamples {
    static func main() async throws {
        switch CommandLine.arguments.dropFirst().first {
        case "client": try await runClient()
        case "server": try await runServer()
        case "feed": try await runFeed()
        default: print("usage: ReadmeExamples client|server|feed")
        }
    }
}

import AsyncHTTPClient
import Deferred
import DeferredTesting
import Foundation

// `requests [--count <n>] [<url>]` loads a URL over and over with the same chain on top of either engine, and prints how
// many requests a second that makes. Without a URL, it starts a server of its own in a process that has to share.

let arguments = CommandLine.arguments.dropFirst()
let count = arguments.firstIndex(of: "--count").flatMap { Int(arguments[$0 + 1]) } ?? 10_000
let given = arguments.last.flatMap { $0.hasPrefix("http") ? URL(string: $0) : nil }
let server = try given == nil ? LoopbackServer(requestLogLimit: 0) { _ in .response(body: "hello") } : nil
guard let url = given ?? server?.url("/") else { exit(1) }

/// Loads all requests at once, and gives the time that they took in all.
func time(_ engine: some HTTPLoader) async -> Duration {
    let chain = ResetGuard() --> Autocancel() --> Retry() --> Throttle(maximum: 64) --> Validate() --> engine
    return await ContinuousClock().measure {
        let results = await (0..<count).map { _ in chain.load(HTTPRequest(url: url)).future }.allFilled().value
        let failures = results.count { (try? $0.get()) == nil }
        if failures > 0 { print("\(failures) of \(count) requests failed") }
    }
}

var configuration = URLClient.Configuration()
configuration.maximumConnectionsPerHost = 64
let engines: [(String, any HTTPLoader)] = [
    ("URLSession", URLSessionLoader(configuration: configuration)),
    ("async-http-client", AsyncHTTPClientLoader(client: .shared)),
]
for round in 1...3 {
    for (name, engine) in engines {
        let seconds = await time(engine) / .seconds(1)
        print("\(round)  \(name): \(Int(Double(count) / seconds)) requests a second")
    }
}
server?.stop()

import Deferred
import DeferredTesting
import Foundation

/// Types "def" into a search field, with a server whose answer to "de" comes after the one to "def".
@main
@MainActor
struct SearchAsYouType {
    static func main() async throws {
        let naive = try await showEachAnswerAsItComes()
        print("Each answer as it comes:  \"def\" is in the field, \(naive) in the list")

        let (latest, requests, changes) = try await showTheLatest()
        print("The latest answer only:   \"def\" is in the field, \(latest) in the list")
        print("3 keystrokes, \(requests) requests, \(changes) change of the list")

        guard naive == ["default"], latest == ["deferred"], requests == 2, changes == 1 else {
            print("This is not what was to be shown.")
            exit(1)
        }
    }

    /// What the list shows in the end if nothing keeps late answers out.
    private static func showEachAnswerAsItComes() async throws -> [String] {
        let server = try LateServer()
        let catalog = Catalog(client: URLClient(), url: server.url)
        var list: [String] = []
        let first = catalog.find("de").map(on: .mainActor) { list = $0 }
        await server.hasAskedForFirst.value
        try await catalog.find("def").map(on: .mainActor) { list = $0 }.value
        server.mayAnswerFirst.fill()
        try await first.value
        await catalog.client.shutdown().value
        return list
    }

    /// What the list of a `SearchModel` shows in the end, how many requests there were, and how often it changed.
    private static func showTheLatest() async throws -> (list: [String], requests: Int, changes: Int) {
        let server = try LateServer()
        let catalog = Catalog(client: URLClient(), url: server.url)
        let clock = ManualClock()
        let model = SearchModel(catalog, clock: clock)
        let isShown = Deferred<Void>()
        var changes = 0
        model.onChange = {
            changes += 1
            isShown.fill()
        }

        model.textChanged(to: "d")
        try await clock.waitForSleepers()
        clock.advance(by: .milliseconds(100))
        model.textChanged(to: "de")
        try await clock.waitForSleepers()
        clock.advance(by: .milliseconds(300))  // The pause is over: the server is asked.
        await server.hasAskedForFirst.value

        model.textChanged(to: "def")
        try await clock.waitForSleepers()
        clock.advance(by: .milliseconds(300))
        await isShown.value

        server.mayAnswerFirst.fill()
        await catalog.client.shutdown().value
        server.stop()
        // Whatever was on its way to the main actor has come there now.
        await Deferred<Void>(filledWith: ()).map(on: .main) {}.value
        return (model.results, server.requestCount, changes)
    }
}

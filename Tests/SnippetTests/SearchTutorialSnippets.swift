// swift-format-ignore-file
// Written by Documentation/snippets.py from Documentation/Deferred.docc/Resources/Search.

import Deferred
import DeferredTesting
import Foundation
import Synchronization
import TestSupport
import Testing

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

#sourceLocation(file: "Documentation/Deferred.docc/Resources/Search/Search-6.swift", line: 1)



/// The logic behind a search field.
@MainActor
final class Search<Time: Clock<Duration>> {
    private let latest = LatestTask<[String]>()
    private let clock: Time
    private let find: @Sendable (String) -> Task<[String]>
    private let show: @MainActor ([String]) -> Void

    init(
        clock: Time,
        find: @escaping @Sendable (String) -> Task<[String]>,
        show: @escaping @MainActor ([String]) -> Void
    ) {
        (self.clock, self.find, self.show) = (clock, find, show)
    }

    /// Called on every keystroke.
    func textChanged(_ text: String) {
        latest.start(after: .milliseconds(300), clock: clock, on: .mainActor) {
            self.find(text)
        } deliver: { result in
            self.show((try? result.get()) ?? [])
        }
    }
}
#sourceLocation()

#sourceLocation(file: "Documentation/Deferred.docc/Resources/Search/SearchTests-1.swift", line: 1)





@MainActor
@Test func `only the last text is searched for`() async throws {
    let clock = ManualClock()
    let asked = Mutex<[String]>([])
    let shown = Deferred<[String]>()
    let search = Search(clock: clock) { text in
        asked.withLock { $0.append(text) }
        return .success(["\(text)ly"])
    } show: { items in
        shown.fill(with: items)
    }

    search.textChanged("swi")
    search.textChanged("swift")
    while !shown.isFilled {
        clock.advance(by: .milliseconds(300))
        await Task.yield()
    }

    #expect(shown.peek() == ["swiftly"])
    #expect(asked.withLock { $0 } == ["swift"])
}
#sourceLocation()

struct SearchTutorialSnippets {
    func `Search, step 1`() async throws {
#sourceLocation(file: "Documentation/Deferred.docc/Resources/Search/Search-1.swift", line: 1)



        /// Asks the server for what begins with `text`.
        func answer(for text: String) -> Task<(Data, URLResponse)> {
            let server = URL(string: "https://api.example.com/search")!
            let url = server.appending(queryItems: [URLQueryItem(name: "q", value: text)])
            return URLSession.shared.beginDataTask(with: url)
        }
#sourceLocation()
    }

    func `Search, step 2`() async throws {
#sourceLocation(file: "Documentation/Deferred.docc/Resources/Search/Search-2.swift", line: 1)



        /// Asks the server for what begins with `text`.
        func find(_ text: String) -> Task<[String]> {
            let server = URL(string: "https://api.example.com/search")!
            let url = server.appending(queryItems: [URLQueryItem(name: "q", value: text)])
            return URLSession.shared.beginDataTask(with: url).map(on: .any()) { data, _ in
                try JSONDecoder().decode([String].self, from: data)
            }
        }
#sourceLocation()
    }

    func `Search, step 3`() async throws {
#sourceLocation(file: "Documentation/Deferred.docc/Resources/Search/Search-3.swift", line: 1)



        /// Asks the server for what begins with `text`.
        func find(_ text: String) -> Task<[String]> {
            let server = URL(string: "https://api.example.com/search")!
            let url = server.appending(queryItems: [URLQueryItem(name: "q", value: text)])
            return URLSession.shared.beginDataTask(with: url).map(on: .any()) { data, _ in
                try JSONDecoder().decode([String].self, from: data)
            }
        }

        /// The logic behind a search field.
        @MainActor
        final class Search {
            private(set) var items: [String] = []

            /// Called on every keystroke.
            func textChanged(_ text: String) {
                find(text).uponSuccess(on: .mainActor) { self.items = $0 }
            }
        }
#sourceLocation()
    }

    func `Search, step 4`() async throws {
#sourceLocation(file: "Documentation/Deferred.docc/Resources/Search/Search-4.swift", line: 1)



        /// Asks the server for what begins with `text`.
        func find(_ text: String) -> Task<[String]> {
            let server = URL(string: "https://api.example.com/search")!
            let url = server.appending(queryItems: [URLQueryItem(name: "q", value: text)])
            return URLSession.shared.beginDataTask(with: url).map(on: .any()) { data, _ in
                try JSONDecoder().decode([String].self, from: data)
            }
        }

        /// The logic behind a search field.
        @MainActor
        final class Search {
            private(set) var items: [String] = []
            private let latest = LatestTask<[String]>()

            /// Called on every keystroke.
            func textChanged(_ text: String) {
                latest.start(find(text), on: .mainActor) { result in
                    self.items = (try? result.get()) ?? []
                }
            }
        }
#sourceLocation()
    }

    func `Search, step 5`() async throws {
#sourceLocation(file: "Documentation/Deferred.docc/Resources/Search/Search-5.swift", line: 1)



        /// Asks the server for what begins with `text`.
        func find(_ text: String) -> Task<[String]> {
            let server = URL(string: "https://api.example.com/search")!
            let url = server.appending(queryItems: [URLQueryItem(name: "q", value: text)])
            return URLSession.shared.beginDataTask(with: url).map(on: .any()) { data, _ in
                try JSONDecoder().decode([String].self, from: data)
            }
        }

        /// The logic behind a search field.
        @MainActor
        final class Search {
            private(set) var items: [String] = []
            private let latest = LatestTask<[String]>()

            /// Called on every keystroke.
            func textChanged(_ text: String) {
                latest.start(after: .milliseconds(300), on: .mainActor) {
                    find(text)
                } deliver: { result in
                    self.items = (try? result.get()) ?? []
                }
            }
        }
#sourceLocation()
    }
}

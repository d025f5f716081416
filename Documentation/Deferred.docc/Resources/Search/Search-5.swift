import Deferred
import Foundation
#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

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

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

    /// Called on every keystroke.
    func textChanged(_ text: String) {
        find(text).uponSuccess(on: .mainActor) { self.items = $0 }
    }
}

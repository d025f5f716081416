import Deferred
import Foundation

/// A server that finds things by their names.
struct Catalog: Sendable {
    let client: URLClient
    let url: URL

    /// What goes by a name that begins with `text`.
    func find(_ text: String) -> Task<[String]> {
        client.decode([String].self, from: url.appending(queryItems: [URLQueryItem(name: "q", value: text)]))
    }
}

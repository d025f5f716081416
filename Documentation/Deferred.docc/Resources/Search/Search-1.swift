import Deferred
import Foundation
#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// Asks the server for what begins with `text`.
func answer(for text: String) -> Task<(Data, URLResponse)> {
    let server = URL(string: "https://api.example.com/search")!
    let url = server.appending(queryItems: [URLQueryItem(name: "q", value: text)])
    return URLSession.shared.beginDataTask(with: url)
}

import Deferred
import Foundation

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// A plain type, as everybody writes it. Its conformance to `Decodable` belongs to the main actor here.
package struct User: Decodable {
    package let name: String
}

/// What a view shows of a user.
package final class ProfileModel {
    package private(set) var user: User?
    package private(set) var message: String?

    private let client: URLClient

    package init(client: URLClient) { self.client = client }

    /// Loads the user, as a view does when it appears: `.task { await model.load(url) }`. When it disappears, the Swift task
    /// is cancelled, and so is the request.
    package func load(_ url: URL) async {
        do {
            user = try await client.begin(URLRequest(url: url)).decoded(User.self)
            message = nil
        } catch {
            // After a cancellation, nobody looks any more.
            if !error.isCancellation { message = "\(error)" }
        }
    }
}

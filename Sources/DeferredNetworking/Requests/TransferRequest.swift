package import Foundation

#if canImport(FoundationNetworking)
package import FoundationNetworking
#endif

/// A request together with a body that is too large, or too late, to lie inside it.
package struct TransferRequest: Sendable {
    /// Where the body's bytes come from.
    package enum Body: Sendable {
        /// The request's own `httpBody` or `httpBodyStream`, or nothing.
        case inRequest

        /// A regular file, read while it is sent.
        case file(URL)

        /// A fresh stream for each time that the body has to be sent.
        case stream(@Sendable () -> InputStream)
    }

    package var request: URLRequest
    package var body: Body

    package init(_ request: URLRequest, body: Body = .inRequest) {
        self.request = request
        self.body = body
    }

    var url: URL? { request.url }

    var method: String { request.httpMethod ?? "GET" }

    /// Whether sending this again would find the body's stream already read.
    var hasOneShotBody: Bool {
        if case .inRequest = body { request.httpBodyStream != nil } else { false }
    }
}

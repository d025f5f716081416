public import DeferredNetworking
internal import Foundation

extension HTTPLoader {
    /// Returns the pages of a list, of which each response names the next with a link of the relation `next`: RFC 8288.
    ///
    /// ```swift
    /// for try await page in chain.pages(of: HTTPRequest(path: "/repositories")) {
    ///     repositories += try page.decode([Repository].self)
    /// }
    /// ```
    ///
    /// A page is requested when it is read, with the method, headers and options of the first, and its credentials: the
    /// pages have to be of the same origin, so that these don't go elsewhere.
    ///
    /// - Returns: A sequence that loads the first page for each of its iterators. Cancelling the Swift task that reads
    ///   cancels the request. It throws the ``HTTPError`` of a request, or one with the code
    ///   ``HTTPError/Code/foreignPage``.
    public func pages(of request: HTTPRequest) -> HTTPSequence<HTTPResponse, HTTPError> {
        HTTPSequence { Pages(from: request, over: self) }
    }
}

/// Reads the pages of a list.
struct Pages: AsyncIteratorProtocol {
    private var following: Result<HTTPRequest, HTTPError>?
    private let loader: any HTTPLoader

    init(from first: HTTPRequest, over loader: any HTTPLoader) {
        following = .success(first)
        self.loader = loader
    }

    mutating func next() async throws(HTTPError) -> HTTPResponse? {
        guard let request = try following.take()?.get() else { return nil }
        let response = try await loader.load(request).get()
        if let url = response.links.first(where: { $0.relations.contains("next") })?.url {
            following = Self.request(for: url, after: response, like: request)
        }
        return response
    }

    private static func request(
        for url: URL,
        after response: HTTPResponse,
        like last: HTTPRequest
    ) -> Result<HTTPRequest, HTTPError> {
        guard let current = response.url ?? response.request.url, Origin(of: current) == Origin(of: url) else {
            let reason =
                "the next page is at another origin, \(DisplayText.quoted(url)); load it by itself if it is to be trusted"
            return .failure(HTTPError(.foreignPage, request: last, response: response, reason: reason))
        }
        var request = last
        let sent = response.request.parts
        request.parts = URLParts(url)
        // The server of an environment is still that, and gets its headers and credentials.
        if sent.isHostOfEnvironment, let host = request.host { request.parts.setHostOfEnvironment(host) }
        return .success(request)
    }
}

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
    /// pages have to be of the origin that `request` or its environment names, so that these don't go elsewhere. One to
    /// which a redirect has led is another origin.
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
        let (sent, target) = (response.request, Origin(of: url))
        // A redirect to another origin leaves out the credentials, and they must not go there with a page. One that a
        // client follows changes only the response's URL. One that a loader follows changes the request, too.
        let home = last.host == nil && sent.parts.isHostOfEnvironment ? sent.url : last.url
        guard let current = response.url ?? sent.url, let home,
            Origin(of: current) == target, Origin(of: home) == target
        else {
            let reason =
                "the next page is at another origin, \(DisplayText.quoted(url)); load it by itself if it is to be trusted"
            return .failure(HTTPError(.foreignPage, request: last, response: response, reason: reason))
        }
        var request = last
        request.parts = URLParts(url)
        // The server of an environment is still that, and gets its headers and credentials.
        if sent.parts.isHostOfEnvironment, sent.url.map(Origin.init(of:)) == target, let host = request.host {
            request.parts.setHostOfEnvironment(host)
        }
        return .success(request)
    }
}

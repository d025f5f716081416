internal import DeferredCore
package import DeferredHTTP

/// A list of events in order, renamed for tests of a module that has another `Log`.
package typealias Journal<Entry: Sendable> = Log<Entry>

extension HTTPTask {
    /// The response, if there is one already.
    package var responseNow: HTTPResponse? { try? peek()?.get() }

    /// The body of the response, if there is one already.
    package var textNow: String? { responseNow?.text }

    /// The status, if there is a response already.
    package var statusNow: HTTPStatus? { responseNow?.status }

    /// The error, if the task has failed by now.
    package var errorNow: HTTPError? {
        if case .failure(let error)? = peek() { error } else { nil }
    }

    /// The code of the error, if the task has failed already.
    package var codeNow: HTTPError.Code? {
        if case .failure(let error) = peek() { error.code } else { nil }
    }

    /// Returns a list that records each completion. There should be one.
    package func completions() -> Journal<HTTPResult> {
        let journal = Journal<HTTPResult>()
        addCompletionHandler { journal.add($0) }
        return journal
    }
}

extension HTTPRequest {
    /// A request for chains without a network.
    package static let example = HTTPRequest(host: "example.com", path: "/")

    /// The same with more of its parts.
    package static func cacheable(
        _ method: HTTPMethod = .get,
        _ path: String = "/",
        _ headers: HTTPHeaders = [:]
    ) -> HTTPRequest {
        HTTPRequest(method, host: "example.com", path: path, headers: headers)
    }

    package func with(_ policy: CachePolicy) -> HTTPRequest {
        var copy = self
        copy.cachePolicy = policy
        return copy
    }

    package func streamed() -> HTTPRequest {
        var copy = self
        copy.delivery = .stream
        return copy
    }
}

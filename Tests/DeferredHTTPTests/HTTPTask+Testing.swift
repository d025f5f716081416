import DeferredCore
import DeferredHTTP
import TestSupport

/// What happened, in order. The module under test has a `Log` of its own.
typealias Journal<Entry: Sendable> = TestSupport.Log<Entry>

extension HTTPTask {
    /// The status, if there is a response by now.
    var statusNow: HTTPStatus? { try? peek()?.get().status }

    /// The code of the error, if the task has failed by now.
    var codeNow: HTTPError.Code? {
        if case .failure(let error) = peek() { error.code } else { nil }
    }

    /// Notes each completion. There should be one.
    func completions() -> Journal<HTTPResult> {
        let journal = Journal<HTTPResult>()
        addCompletionHandler { journal.add($0) }
        return journal
    }
}

extension HTTPRequest {
    /// For chains without a network.
    static let example = HTTPRequest(host: "example.com", path: "/")
}

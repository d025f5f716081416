import DeferredCore
import DeferredHTTP
import TestSupport

/// A list of events in order, renamed since the module under test has another `Log`.
typealias Journal<Entry: Sendable> = TestSupport.Log<Entry>

extension HTTPTask {
    /// The status, if there is a response already.
    var statusNow: HTTPStatus? { try? peek()?.get().status }

    /// The code of the error, if the task has failed already.
    var codeNow: HTTPError.Code? {
        if case .failure(let error) = peek() { error.code } else { nil }
    }

    /// Returns a list that records each completion. There should be one.
    func completions() -> Journal<HTTPResult> {
        let journal = Journal<HTTPResult>()
        addCompletionHandler { journal.add($0) }
        return journal
    }
}

extension HTTPRequest {
    /// A request for chains without a network.
    static let example = HTTPRequest(host: "example.com", path: "/")
}

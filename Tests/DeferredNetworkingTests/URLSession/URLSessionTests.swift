import DeferredCore
import DeferredNetworking
import DeferredTask
import DeferredTesting
import Foundation
import TestSupport
import Testing

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// Requests over real connections to a `LoopbackServer`.
///
/// The suites are serialized: all sessions of a process share a queue, and a storm would delay its neighbours'
/// time-outs.
@Suite("URLSession", .serialized, .ownThreadInSeries, .timeLimit(.minutes(5)))
enum URLSessionTests {}

/// The ending of a task, in a form that can be compared.
enum Ending: Equatable, Sendable {
    case status(Int)
    case url(URLError.Code)
    case client(URLClientError)
    case cocoa(CocoaError.Code)
    case other(String)

    init(_ error: any Error) {
        switch error {
        case let error as URLClientError: self = .client(error)
        case let error as URLError: self = .url(error.code)
        case let error as CocoaError: self = .cocoa(error.code)
        default: self = .other(String(describing: error))
        }
    }

    init<Value>(_ result: Result<(Value, URLResponse), any Error>) {
        switch result {
        case .success(let (_, response)): self = .status((response as? HTTPURLResponse)?.statusCode ?? 0)
        case .failure(let error): self = Ending(error)
        }
    }

    init(_ result: Result<(Data, ResponseHead), any Error>) {
        switch result {
        case .success(let (_, head)): self = .status(head.status.code)
        case .failure(let error): self = Ending(error)
        }
    }
}

extension Task {
    /// Returns the ending of the task. Cancelling the test cancels the task.
    func ending<Value>() async -> Ending where Success == (Value, URLResponse) {
        do {
            return try await Ending(.success(get()))
        } catch {
            return Ending(error)
        }
    }

    /// Returns the error that the task failed with.
    func failure() async -> (any Error)? {
        do {
            _ = try await get()
            return nil
        } catch {
            return error
        }
    }
}

extension Task where Success == (Data, URLResponse) {
    /// Returns the body as text.
    func text() async throws -> String {
        try await String(decoding: get().0, as: UTF8.self)
    }
}

extension URLSession {
    /// Returns a session as a user would make it, with the cache and the cookies that it has by default, and whose
    /// requests run over the engine under test.
    static func fresh(
        delegate: (any URLSessionDelegate)? = nil,
        _ change: (URLSessionConfiguration) -> Void = { _ in }
    ) -> URLSession {
        let configuration = URLSessionConfiguration.default
        if !isLibcurlTested { configuration.protocolClasses = AbsentProtocol.needingSession }
        change(configuration)
        return URLSession(configuration: configuration, delegate: delegate, delegateQueue: nil)
    }
}

extension URLRequest {
    init(_ url: URL, _ change: (inout URLRequest) -> Void) {
        self.init(url: url)
        change(&self)
    }

    static func post(_ url: URL, _ body: Data) -> URLRequest {
        URLRequest(url) {
            $0.httpMethod = "POST"
            $0.httpBody = body
        }
    }
}

/// A session delegate that decides on redirects and challenges with closures.
final class DecidingDelegate: NSObject, URLSessionTaskDelegate {
    typealias Redirect =
        @Sendable (HTTPURLResponse, URLRequest, _ answer: @escaping @Sendable (URLRequest?) -> Void) -> Void
    typealias Decision = (URLSession.AuthChallengeDisposition, URLCredential?)
    typealias Challenge = @Sendable (URLAuthenticationChallenge) -> Decision

    private let redirect: Redirect
    private let challenge: Challenge

    init(
        redirect: @escaping Redirect = { $2($1) },
        challenge: @escaping Challenge = { _ in (.performDefaultHandling, nil) }
    ) {
        self.redirect = redirect
        self.challenge = challenge
    }

    func urlSession(
        _ session: URLSession,
        task: URLSessionTask,
        willPerformHTTPRedirection response: HTTPURLResponse,
        newRequest request: URLRequest,
        completionHandler: @escaping @Sendable (URLRequest?) -> Void
    ) {
        redirect(response, request, completionHandler)
    }

    func urlSession(
        _ session: URLSession,
        task: URLSessionTask,
        didReceive challenge: URLAuthenticationChallenge,
        completionHandler: @escaping @Sendable (URLSession.AuthChallengeDisposition, URLCredential?) -> Void
    ) {
        let (disposition, credential) = self.challenge(challenge)
        completionHandler(disposition, credential)
    }
}

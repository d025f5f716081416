import DeferredTask
import DeferredTesting
import Foundation
import TestSupport
import Testing

@testable import DeferredHTTP
@testable import DeferredNetworking

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// A request, as the chain and as the client has it.
private struct Sent: Sendable {
    enum Body: CaseIterable { case none, bytes, oneShot }

    let method: String
    let isKeyed: Bool
    let body: Body

    static let all = ["GET", "HEAD", "PUT", "DELETE", "POST", "PATCH", "OWN", "COPY", "own"].flatMap { method in
        // Others with a body are refused.
        let bodies = ["GET", "HEAD"].contains(method) ? [Body.none] : Body.allCases
        return [true, false].flatMap { isKeyed in bodies.map { Sent(method: method, isKeyed: isKeyed, body: $0) } }
    }

    /// By the standard: RFC 9110, section 9.2.2, and the draft of `Idempotency-Key`.
    var mayRepeat: Bool {
        body != .oneShot && (isKeyed || ["GET", "HEAD", "PUT", "DELETE", "COPY"].contains(method))
    }

    var inChain: HTTPRequest {
        var request = HTTPRequest(HTTPMethod(rawValue: method), host: "host")
        request.headers["idempotency-key"] = isKeyed ? "1" : nil
        switch body {
        case .none: break
        case .bytes: request.body = .text("body")
        case .oneShot: request.body = .stream(AsyncStream<Data> { $0.finish() }, length: 0)
        }
        return request
    }

    func inClient() throws -> CheckedRequest {
        var request = URLRequest(url: try #require(URL(string: "http://host/")))
        request.httpMethod = method
        request.setValue(isKeyed ? "1" : nil, forHTTPHeaderField: "Idempotency-Key")
        switch body {
        case .none: break
        case .bytes: request.httpBody = Data("body".utf8)
        case .oneShot: request.httpBodyStream = InputStream(data: Data("body".utf8))
        }
        return try CheckedRequest(request)
    }
}

/// How an attempt ended, and the pause after it if the request may be sent twice.
private struct Ended: Sendable {
    let status: Int?
    var fields: [String: String] = [:]
    var error: (any Error & Sendable)?
    let pause: Duration?

    static let all = [
        Ended(status: 200, pause: nil), Ended(status: 404, pause: nil), Ended(status: 500, pause: nil),
        Ended(status: 408, pause: .seconds(1)), Ended(status: 429, pause: .seconds(1)),
        Ended(status: 502, pause: .seconds(1)), Ended(status: 503, pause: .seconds(1)),
        Ended(status: 504, pause: .seconds(1)),
        Ended(status: 503, fields: ["retry-after": "7"], pause: .seconds(7)),
        Ended(status: 503, fields: ["Retry-After": "0"], pause: .zero),
        Ended(status: 503, fields: ["Retry-After": "61"], pause: nil),
        Ended(status: 503, fields: ["Retry-After": "soon"], pause: .seconds(1)),
        Ended(
            status: 429,
            fields: ["Retry-After": "Sun, 06 Nov 1994 08:49:47 GMT", "Date": "Sun, 06 Nov 1994 08:49:37 GMT"],
            pause: .seconds(10)
        ),
        Ended(status: 200, fields: ["Retry-After": "7"], pause: nil),
        Ended(status: 503, error: URLClientError.unacceptableStatus(code: 503, body: Data()), pause: .seconds(1)),
        Ended(status: 404, error: URLClientError.unacceptableStatus(code: 404, body: Data()), pause: nil),
        Ended(status: nil, error: URLError(.timedOut), pause: .seconds(1)),
        Ended(status: nil, error: URLError(.cannotFindHost), pause: .seconds(1)),
        Ended(status: nil, error: URLError(.cannotConnectToHost), pause: .seconds(1)),
        Ended(status: nil, error: URLError(.networkConnectionLost), pause: .seconds(1)),
        Ended(status: nil, error: URLError(.secureConnectionFailed), pause: nil),
        Ended(status: nil, error: URLError(.badServerResponse), pause: nil),
        Ended(status: nil, error: URLError(.cancelled), pause: nil),
        Ended(status: nil, error: URLClientError.truncatedBody(received: 1, expected: 2), pause: .seconds(1)),
        Ended(status: nil, error: URLClientError.bodyTooLarge(limit: 1), pause: nil),
        Ended(status: nil, error: URLClientError.deadlineExceeded, pause: nil),
        Ended(status: nil, error: URLClientError.engineUnavailable(reason: "none"), pause: nil),
    ]

    func head() throws -> ResponseHead? {
        let url = try #require(URL(string: "http://host/"))
        let headers = HTTPHeaders(fields.map { .init(name: $0.key, value: $0.value) })
        return status.map { ResponseHead(url: url, status: HTTPStatus($0), headers: headers) }
    }

    func inChain(_ request: HTTPRequest) throws -> HTTPResult {
        let response = try head().map { head in
            HTTPResponse(request: request, status: head.status, headers: head.headers)
        }
        guard let error else { return .success(try #require(response)) }
        let mapped = HTTPError(error, request: request)
        return .failure(HTTPError(mapped.code, request: request, response: response, underlying: error))
    }
}

@Suite(.ownThread, .timeLimit(.minutes(1)))
struct RetryVerdictTests {
    /// The client's machine after attempts that ended so; `nil` if it makes no further one.
    private func pauseOfClient(_ sent: Sent, _ ended: Ended, attempt: Int) throws -> Duration? {
        var retries = URLClient.Retries()
        retries.base = .seconds(1)
        retries.random = { 1 }
        var machine = ExchangeStateMachine(try sent.inClient(), RequestPolicies(retries: retries))
        machine.begin()
        machine.admitted()
        var pause: Duration?
        for number in 1...attempt {
            if number > 1 { machine.pauseEnded(round: machine.round) }
            _ = try machine.prepared(machine.request)
            machine.completed(task: machine.round, head: nil, error: nil)
            _ = machine.finishes()
            let made = ResponseHead(url: machine.request.url, status: 200)
            let result: Result<ReceivedResponse, any Error> = ended.error.map { .failure($0) } ?? .success(.file(made))
            machine.lastHead = try ended.head()
            let next = machine.question(after: result)?(Date(timeIntervalSince1970: 0))
            machine.step = nil
            machine.judged(result, pause: next)
            guard case .pause(let duration, number, _, _)? = machine.step else { return nil }
            pause = duration
        }
        return pause
    }

    private func pauseOfChain(_ sent: Sent, _ ended: Ended, attempt: Int) throws -> Duration? {
        let request = sent.inChain
        let strategy = RetryStrategy.backoff(base: .seconds(1), random: { 1 })
        return strategy.pause(.init(number: attempt, request: request, result: try ended.inChain(request)))
    }

    @Test func `the chain and the client retry the same requests after the same outcomes and pauses`() throws {
        for sent in Sent.all {
            for ended in Ended.all {
                for attempt in 1...3 {
                    // Three attempts. The second pause is twice as long, unless the server asked for it.
                    let isChosen = ended.pause == .seconds(1)
                    let pause = ended.pause.map { isChosen ? $0 * attempt : $0 }
                    let expected = attempt < 3 && sent.mayRepeat ? pause : nil
                    #expect(try pauseOfChain(sent, ended, attempt: attempt) == expected, "\(sent), \(ended)")
                    #expect(try pauseOfClient(sent, ended, attempt: attempt) == expected, "\(sent), \(ended)")
                }
            }
        }
    }

    @Test(arguments: [
        (HTTPError.Code.cannotConnect, true), (.connectionLost, true), (.timedOut, true), (.insecureConnection, false),
        (.unknown, false),
    ])
    func `where a loader gives only a code, the code decides`(code: HTTPError.Code, isRetried: Bool) {
        let error = HTTPError(code, request: .example, underlying: Unfamiliar())
        let attempt = RetryStrategy.Attempt(number: 1, request: .example, result: .failure(error))
        #expect((RetryStrategy.backoff().pause(attempt) != nil) == isRetried)
    }

    private struct Unfamiliar: Error {}

    @Test func `where the client's error is known, that decides, whatever the code`() {
        let error = HTTPError(.connectionLost, request: .example, underlying: URLError(.userCancelledAuthentication))
        let attempt = RetryStrategy.Attempt(number: 1, request: .example, result: .failure(error))
        #expect(RetryStrategy.backoff().pause(attempt) == nil)
    }

    @Test func `a status that was refused below is retried all the same`() async throws {
        let stub = StubLoader(.response(503), .response(200))
        let chain = Retry(.backoff(base: .zero)) --> Validate() --> stub
        #expect(try await chain.load(.example).get().status == .ok)
        #expect(stub.requests.count == 2)
    }
}

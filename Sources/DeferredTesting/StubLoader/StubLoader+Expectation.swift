internal import DeferredCore
public import DeferredHTTP

extension StubLoader {
    /// A kind of request that a ``StubLoader`` expects, and its answers.
    ///
    /// ```swift
    /// let stub = StubLoader(
    ///     expecting: .get("/users/1", .response(503), .json(#"{"name": "Ada"}"#)),
    ///     .init("an upload", { $0.method == .put && $0.body.length ?? 0 > 0 }, .response(201))
    /// )
    /// ```
    public struct Expectation: Sendable {
        let description: String
        let matches: @Sendable (HTTPRequest) -> Bool
        let answers: [Answer]

        /// Expects the requests that a closure matches.
        ///
        /// - Parameters:
        ///   - description: The name of the expectation in the message of ``UnexpectedRequest``.
        ///   - matches: Returns true for the expected requests. Called on the thread that loads.
        ///   - answers: The answers, given in order, the last one repeatedly; without any, the requests stay pending.
        public init(
            _ description: String,
            _ matches: @escaping @Sendable (HTTPRequest) -> Bool,
            _ answers: Answer...
        ) {
            self.init(description, answers, matches)
        }

        /// Expects requests with a method and a path, whatever their query.
        public init(_ method: HTTPMethod, _ path: String, _ answers: Answer...) {
            self.init(method, path, answers)
        }

        /// Expects `GET` requests to a path.
        public static func get(_ path: String, _ answers: Answer...) -> Expectation { .init(.get, path, answers) }

        /// Expects `POST` requests to a path.
        public static func post(_ path: String, _ answers: Answer...) -> Expectation { .init(.post, path, answers) }

        /// Expects `PUT` requests to a path.
        public static func put(_ path: String, _ answers: Answer...) -> Expectation { .init(.put, path, answers) }

        /// Expects `DELETE` requests to a path.
        public static func delete(_ path: String, _ answers: Answer...) -> Expectation { .init(.delete, path, answers) }

        private init(_ method: HTTPMethod, _ path: String, _ answers: [Answer]) {
            self.init("\(method) \(path)", answers) { $0.method == method && $0.path == path }
        }

        init(
            _ description: String,
            _ answers: [Answer],
            _ matches: @escaping @Sendable (HTTPRequest) -> Bool
        ) {
            self.description = description
            self.answers = answers
            self.matches = matches
        }
    }

    /// The underlying error of a request that no expectation matches.
    public struct UnexpectedRequest: Error, CustomStringConvertible, DisplayableError {
        /// The request.
        public let request: HTTPRequest

        /// The descriptions of the expectations.
        public let expectations: [String]

        /// The request and the expectations, in one line.
        public var description: String {
            "unexpected request \(request); expected "
                + (expectations.isEmpty ? "none" : expectations.joined(separator: ", or "))
        }
    }
}

/// The expectations of a stub, with the number of requests that each has matched.
final class ExpectationScript: Sendable {
    private let expectations: [StubLoader.Expectation]
    private let counts: Lock<[Int]>

    init(_ expectations: [StubLoader.Expectation]) {
        self.expectations = expectations
        counts = Lock(Array(repeating: 0, count: expectations.count))
    }

    func answer(to request: HTTPRequest) throws(StubLoader.UnexpectedRequest) -> StubLoader.Answer {
        guard let index = expectations.firstIndex(where: { $0.matches(request) }) else {
            throw StubLoader.UnexpectedRequest(
                request: request,
                expectations: expectations.map(\.description)
            )
        }
        let number = counts.withLock { counts in
            defer { counts[index] += 1 }
            return counts[index]
        }
        let answers = expectations[index].answers
        return answers.isEmpty ? .pending : answers[min(number, answers.count - 1)]
    }
}

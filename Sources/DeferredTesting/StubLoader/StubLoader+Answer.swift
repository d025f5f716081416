public import DeferredHTTP
public import Foundation

extension StubLoader {
    /// A script for one request of a ``StubLoader``.
    ///
    /// ```swift
    /// let slow = StubLoader.Answer.response(200, body: "hello").reporting(2, of: 5).delayed(by: .seconds(1))
    /// ```
    public struct Answer: Sendable {
        enum Step: Sendable {
            case report(completed: Int64, of: Int64?)
            case wait(Duration)
        }

        enum Ending: Sendable {
            case response(HTTPStatus, HTTPHeaders, Body)
            case failure(HTTPError.Code, (any Error)?)
            case pending
        }

        enum Body: Sendable {
            case data(Data)
            case stream(@Sendable () -> HTTPBodyStream)
        }

        let ending: Ending
        private(set) var steps: [Step] = []
        private(set) var heedsCancellation = true

        private init(_ ending: Ending) {
            self.ending = ending
        }

        /// Creates a response with a text as its body.
        public static func response(
            _ status: HTTPStatus = .ok,
            headers: HTTPHeaders = [:],
            body: String = ""
        ) -> Answer {
            Answer(.response(status, headers, .data(Data(body.utf8))))
        }

        /// Creates a response with bytes as its body.
        public static func response(
            _ status: HTTPStatus = .ok,
            headers: HTTPHeaders = [:],
            data: Data
        ) -> Answer {
            Answer(.response(status, headers, .data(data)))
        }

        /// Creates a response whose body arrives over time, for a request with the delivery `.stream`. Others fail.
        ///
        /// - Parameters:
        ///   - status: The status.
        ///   - headers: The header fields.
        ///   - stream: Makes the body for each request, for example an `HTTPBodyStream` of an `AsyncStream` that the
        ///     test feeds.
        public static func response(
            _ status: HTTPStatus = .ok,
            headers: HTTPHeaders = [:],
            stream: @escaping @Sendable () -> HTTPBodyStream
        ) -> Answer {
            Answer(.response(status, headers, .stream(stream)))
        }

        /// Creates a response of type `application/json`; the text is its body, unchanged.
        public static func json(_ text: String, status: HTTPStatus = .ok) -> Answer {
            .response(status, headers: ["Content-Type": "application/json"], body: text)
        }

        /// Creates a failure.
        ///
        /// - Parameters:
        ///   - code: The kind of failure.
        ///   - underlying: The cause, if there is one.
        public static func failure(_ code: HTTPError.Code, underlying: (any Error)? = nil) -> Answer {
            Answer(.failure(code, underlying))
        }

        /// No answer: the task stays pending until it is cancelled or the test completes it.
        public static let pending = Answer(.pending)

        /// Returns this answer, delayed by the clock of the stub. Delays and reports come in the order in which they
        /// are added.
        public func delayed(by duration: Duration) -> Answer { adding(.wait(duration)) }

        /// Returns this answer, preceded by a report of progress.
        public func reporting(_ completed: Int64, of total: Int64?) -> Answer {
            adding(.report(completed: completed, of: total))
        }

        /// Returns this answer, given even to a task that is cancelled.
        public func ignoringCancellation() -> Answer {
            var answer = self
            answer.heedsCancellation = false
            return answer
        }

        private func adding(_ step: Step) -> Answer {
            var answer = self
            answer.steps.append(step)
            return answer
        }
    }
}

extension StubLoader.Answer.Body {
    /// Returns the response in the request's form of delivery.
    func result(_ status: HTTPStatus, _ headers: HTTPHeaders, of request: HTTPRequest) -> HTTPResult {
        let body: HTTPResponse.Body
        switch (self, request.delivery) {
        case (.data(let data), .stream):
            let bytes = AsyncStream<Data> { continuation in
                if !data.isEmpty { continuation.yield(data) }
                continuation.finish()
            }
            body = .stream(HTTPBodyStream(bytes))
        case (.data(let data), .file(let file, _)) where status.isSuccess:
            // Only the body of a success goes to the file.
            do {
                try data.write(to: file, options: .atomic)
                body = .file(file)
            } catch {
                return .failure(HTTPError(.unknown, request: request, underlying: error))
            }
        case (.data(let data), _):
            body = .data(data)
        case (.stream(let make), .stream):
            body = .stream(make())
        case (.stream, _):
            return .failure(HTTPError(.unknown, request: request, underlying: StreamNotWanted()))
        }
        return .success(HTTPResponse(request: request, status: status, headers: headers, body))
    }
}

/// The underlying error when a stream is the answer to a request whose delivery is not `.stream`.
private struct StreamNotWanted: DisplayableError {
    var description: String { "the stub answers with a stream, but the request's delivery is not .stream" }
}

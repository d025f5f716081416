public import DeferredHTTP
import Foundation

extension StubLoader {
    /// What a ``StubLoader`` does with a request.
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
            case response(HTTPStatus, HTTPHeaders, Data)
            case failure(HTTPError.Code)
            case pending
        }

        let ending: Ending
        private(set) var steps: [Step] = []
        private(set) var heedsCancellation = true

        private init(_ ending: Ending) {
            self.ending = ending
        }

        /// A response.
        public static func response(
            _ status: HTTPStatus = .ok,
            headers: HTTPHeaders = [:],
            body: String = ""
        ) -> Answer {
            Answer(.response(status, headers, Data(body.utf8)))
        }

        /// A response of type `application/json`; the text is its body as it is.
        public static func json(_ text: String, status: HTTPStatus = .ok) -> Answer {
            .response(status, headers: ["Content-Type": "application/json"], body: text)
        }

        /// A failure.
        public static func failure(_ code: HTTPError.Code) -> Answer { Answer(.failure(code)) }

        /// None, until the task is cancelled, or the test completes it.
        public static let pending = Answer(.pending)

        /// The same answer, later, by the clock of the stub. Delays and reports come in the order in which they are added.
        public func delayed(by duration: Duration) -> Answer { adding(.wait(duration)) }

        /// The same answer after a report of progress.
        public func reporting(_ completed: Int64, of total: Int64?) -> Answer {
            adding(.report(completed: completed, of: total))
        }

        /// The same answer, also to a task that is cancelled.
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

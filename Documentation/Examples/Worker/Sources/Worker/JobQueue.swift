import Deferred
import Foundation

/// A queue of jobs behind an HTTP interface whose tokens expire.
struct JobQueue: Sendable {
    struct Job: Codable, Sendable {
        let id: Int
        let text: String
    }

    private struct Token: Decodable {
        let token: String
    }

    /// Keeps what the queue says for longer than one job.
    let cache = Cache(.memory())
    private let client: URLClient
    private let chain: any HTTPLoader

    init(at url: URL, _ observer: Observer) {
        var configuration = URLClient.Configuration()
        configuration.monitor = { observer.note($0) }
        client = URLClient(configuration: configuration)

        let environment = HTTPEnvironment(scheme: url.scheme ?? "https", host: url.host ?? "", port: url.port)
        let server = ApplyEnvironment(environment) --> cache --> URLSessionLoader(client: client)
        let authentication = BearerAuthentication { _ in
            server.load(HTTPRequest(.post, path: "/token")).task.map { try $0.decode(Token.self).token }
        }
        // Even a fresh token can expire on its way.
        let again = RetryStrategy.custom { attempt in
            attempt.number < 5 && attempt.response?.status == .unauthorized ? .milliseconds(50) : nil
        }
        chain =
            Log.events { observer.note($0) } --> Validate() --> Retry(again)
            --> Retry(.backoff(attempts: 5, base: .milliseconds(50)))
            --> authentication --> server
    }

    /// The next job, which is this program's for as long as the queue waits for the result; `nil` if there is none.
    func take() -> Task<Job?> {
        var request = HTTPRequest(.post, path: "/jobs/take")
        // Sent again after an answer that was lost, it gets the same job.
        request.headers["Idempotency-Key"] = UUID().uuidString
        return chain.load(request).task.map { response in
            response.status == .noContent ? nil : try response.decode(Job.self)
        }
    }

    /// How jobs are to be done: asked for before each job, and sent for once in a while.
    func rule() -> Task<String> {
        chain.load(HTTPRequest(path: "/rule")).task.map { $0.text }
    }

    /// Hands in a result. Sent again, it does no harm.
    func finish(_ job: Job, with result: String) -> Task<Void> {
        chain.load(HTTPRequest(.put, path: "/jobs/\(job.id)/result", body: .text(result))).task.map { _ in }
    }

    /// Closes the connections when all requests have ended.
    func shutdown() -> Future<Void> { client.shutdown() }
}

import DeferredCore
import DeferredTask
import Foundation
import TestSupport
import Testing

@testable import DeferredNetworking

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// Exchanges over tasks that wait for answers, as those of Apple's platforms do.
@Suite("Exchanges that answer their tasks", .ownThread, .timeLimit(.minutes(1)))
struct ExchangeAnswersTests {
    private typealias Outcome = Result<(Data, ResponseHead), any Error>

    private let task = StubTask()
    private let outcome = Deferred<Ending>()
    private let url: URL

    init() throws {
        url = try #require(URL(string: "http://host/first"))
    }

    private func begin(
        _ request: URLRequest? = nil,
        body: CheckedRequest.Body = .inRequest,
        decider: (any ExchangeDelegate)? = nil,
        validation: URLClient.StatusValidation = .any
    ) -> Exchange {
        .gather(
            .checked(request ?? URLRequest(url: url), body: body),
            on: RetainedEngine(StubEngine { [task] _, _, _ in task }),
            .init(policies: RequestPolicies(validation: validation)),
            delegate: decider
        ) { [outcome] in outcome.fill(with: Ending($0)) }
    }

    private func redirect(to location: String, status: Int = 302) -> ResponseHead {
        .made(status, ["Location": location], from: url.absoluteString)
    }

    @Test func `a redirect is answered with the checked proposal, and the same task continues`() throws {
        var request = URLRequest(url: url)
        request.setValue("Bearer secret", forHTTPHeaderField: "Authorization")
        let exchange = begin(request)
        let answers = Log<URLRequest?>()
        exchange.receive(.redirect(redirect(to: "http://other/next"), answer: { answers.add($0) }), of: 1)
        #expect(answers.entries.map { $0?.url?.absoluteString } == ["http://other/next"])
        #expect(answers.entries.first??.value(forHTTPHeaderField: "Authorization") == nil)
        let head = ResponseHead.made(200)
        exchange.receive(.head(head), of: 1)
        exchange.receive(.ended(head, error: nil), of: 1)
        #expect(outcome.peek() == .status(200))
        #expect(task.log.entries == ["resume"])
    }

    @Test func `a redirect that is not one to follow is the response, and one too many fails`() throws {
        let answers = Log<URLRequest?>()
        let exchange = begin()
        exchange.receive(.redirect(redirect(to: "ftp://host/"), answer: { answers.add($0) }), of: 1)
        #expect(answers.entries == [nil] && !outcome.isFilled)
        for _ in 0..<21 {
            exchange.receive(.redirect(redirect(to: "/next"), answer: { answers.add($0) }), of: 1)
        }
        #expect(answers.entries.compactMap { $0 }.count == 20 && answers.entries.count == 22)
        #expect(outcome.peek() == .url(.httpTooManyRedirects))
        #expect(task.log.entries == ["resume", "cancel"])
    }

    /// Cancels its exchange where a test wants it to, and otherwise does what a file's receiver does.
    private struct CancellingReceiver: ResponseReceiver {
        enum Moment: CaseIterable {
            case withBytes, inFinish
        }

        let moment: Moment
        var file: FileReceiver
        var exchange: Exchange?

        mutating func begin(_ request: CheckedRequest, of exchange: Exchange) throws -> CheckedRequest {
            self.exchange = exchange
            return try file.begin(request, of: exchange)
        }

        mutating func receive(head: ResponseHead, of exchange: Exchange) throws -> HeadVerdict {
            try file.receive(head: head, of: exchange)
        }

        mutating func receive(bytes: Data) throws {
            try file.receive(bytes: bytes)
            if moment == .withBytes { exchange?.cancel() }
        }

        mutating func report(_ progress: BodyProgress) { file.report(progress) }

        mutating func finish(_ result: Result<ResponseHead, any Error>) -> AttemptEnd {
            let end = file.finish(result)
            if moment == .inFinish { exchange?.cancel() }
            exchange = nil
            return end
        }
    }

    @Test(arguments: CancellingReceiver.Moment.allCases)
    private func `a cancelled download leaves no file, and is not cancelled once the file is in its place`(
        moment: CancellingReceiver.Moment
    ) throws {
        let folder = try TemporaryDirectory()
        let destination = folder.url.appending(path: "file")
        let file = FileReceiver(to: destination, resuming: false)
        let exchange = Exchange.begin(
            .checked(URLRequest(url: url)),
            on: RetainedEngine(StubEngine { [task] _, _, _ in task }),
            to: CancellingReceiver(moment: moment, file: file)
        ) { [outcome] result, _ in outcome.fill(with: Ending(result.map { (Data(), $0.file) })) }
        // The last bytes come with the end, which is thus decided when they are received.
        let head = ResponseHead.made(200)
        exchange.receive(head, Data("hello".utf8), end: (head, nil), of: 1)
        #expect(outcome.peek() == (moment == .withBytes ? .url(.cancelled) : .status(200)))
        #expect(try folder.contents() == (moment == .withBytes ? [] : ["file"]))
    }

    @Test func `what a task does after the end of its exchange is told to nobody`() {
        let decider = ListeningDecider()
        let exchange = begin(decider: decider)
        for event in [EngineEvent.activity, .waiting] { exchange.receive(event, of: 1) }
        #expect(decider.log.entries == ["activity", "waiting"])
        exchange.cancel()
        for event in [EngineEvent.activity, .waiting] { exchange.receive(event, of: 1) }
        #expect(decider.log.entries == ["activity", "waiting"] && outcome.peek() == .url(.cancelled))
    }

    @Test func `a response that is accepted after a refused one is the result, with its own body`() {
        let exchange = begin(validation: .custom { $0 == 200 })
        for status in [401, 200] {
            exchange.receive(.head(.made(status)), of: 1)
            exchange.receive(.bytes(Data("\(status)".utf8)), of: 1)
        }
        exchange.receive(.ended(.made(200), error: nil), of: 1)
        #expect(outcome.peek() == .status(200))
    }

    @Test func `a cancelled exchange answers the redirect that it was asked about, once`() throws {
        let answers = Log<URLRequest?>()
        let exchange = begin(decider: SilentDecider())
        exchange.receive(.redirect(redirect(to: "/next"), answer: { answers.add($0) }), of: 1)
        #expect(answers.entries.isEmpty)
        exchange.cancel()
        exchange.cancel()
        #expect(answers.entries == [nil])
        // The platform may still deliver a redirect that was on its way.
        exchange.receive(.redirect(redirect(to: "/next"), answer: { answers.add($0) }), of: 1)
        #expect(answers.entries == [nil, nil])
        #expect(outcome.peek() == .url(.cancelled))
    }

    @Test func `a redirect of another task, or while one is decided about, is answered at once`() {
        let (first, others) = (Log<URLRequest?>(), Log<URLRequest?>())
        let exchange = begin(decider: SilentDecider())
        exchange.receive(.redirect(redirect(to: "/next"), answer: { others.add($0) }), of: 2)
        #expect(others.entries == [nil])
        exchange.receive(.redirect(redirect(to: "/next"), answer: { first.add($0) }), of: 1)
        exchange.receive(.redirect(redirect(to: "/other"), answer: { others.add($0) }), of: 1)
        #expect(others.entries == [nil, nil] && first.entries.isEmpty)
        exchange.cancel()
        #expect(others.entries == [nil, nil] && first.entries == [nil])
    }

    @Test func `a deadline of an attempt that has ended does not end the next one`() async throws {
        let (exchanges, end) = (Log<Exchange>(), Deferred<Ending>())
        var retries = URLClient.Retries()
        retries.attempts = 2
        retries.base = .zero
        let engine = StubEngine { _, exchange, _ in
            exchanges.add(exchange)
            return StubTask()
        }
        let exchange = Exchange.gather(
            .checked(URLRequest(url: url)),
            on: RetainedEngine(engine),
            .init(policies: RequestPolicies(retries: retries), deadlines: .init(idle: .seconds(60)))
        ) { end.fill(with: Ending($0)) }
        let deadlines = try #require(exchange.parts.deadlines)
        exchange.receive(.ended(nil, error: URLError(.networkConnectionLost)), of: 1)
        try await eventually { exchanges.entries.count == 2 }
        let number = exchange.state.withLock { $0.machine.round }
        exchange.abort(with: URLError(.timedOut), by: deadlines)
        exchange.abort(with: URLError(.timedOut), of: 1)
        #expect(!end.isFilled)
        exchange.receive(.head(.made(200)), of: number)
        exchange.receive(.ended(.made(200), error: nil), of: number)
        #expect(end.peek() == .status(200))
    }

    @Test func `a stream that is asked for once more is made once more`() {
        let bodies = Log<Data?>()
        let exchange = begin(.post(url, Data()), body: .stream { InputStream(data: Data("body".utf8)) })
        for _ in 0..<2 {
            exchange.receive(.bodyBegan(stream: { bodies.add($0.map(Self.read)) }), of: 1)
        }
        #expect(bodies.entries == [Data("body".utf8), Data("body".utf8)])
    }

    @Test func `there is no second stream of a body that can be sent once`() {
        let answers = Log<Bool>()
        var request = URLRequest.post(url, Data())
        request.httpBodyStream = InputStream(data: Data("body".utf8))
        begin(request).receive(.bodyBegan(stream: { answers.add($0 == nil) }), of: 1)
        #expect(answers.entries == [true])
    }

    @Test func `a stream that was read before ends the exchange`() {
        let answers = Log<Bool>()
        let exchange = begin(
            .post(url, Data()),
            body: .stream {
                let stream = InputStream(data: Data("body".utf8))
                stream.open()
                stream.close()
                return stream
            }
        )
        exchange.receive(.bodyBegan(stream: { answers.add($0 == nil) }), of: 1)
        #expect(answers.entries == [true])
        #expect(outcome.peek() == .client(BodyStreams.spent))
    }

    @Test func `a credential that has failed is not given again, and a refusal is no cancellation`() {
        let answers = Log<String>()
        let answer: ChallengeAnswer = { answers.add("\($0.rawValue) \($1?.user ?? "")") }
        let dispositions: [URLSession.AuthChallengeDisposition] = [
            .useCredential, .performDefaultHandling, .cancelAuthenticationChallenge,
        ]
        let exchange = begin(decider: CredentialDecider(.useCredential))
        for _ in 0..<2 {
            exchange.receive(.challenge(.basic(), answer: answer), of: 1)
        }
        #expect(answers.entries == ["\(dispositions[0].rawValue) me", "\(dispositions[1].rawValue) "])
        #expect(!outcome.isFilled)
        let other = Deferred<Ending>()
        let refusing = Exchange.gather(
            .checked(URLRequest(url: url)),
            on: RetainedEngine(StubEngine { [task] _, _, _ in task }),
            delegate: CredentialDecider(.cancelAuthenticationChallenge)
        ) { other.fill(with: Ending($0)) }
        refusing.receive(.challenge(.basic(), answer: answer), of: 1)
        #expect(answers.entries.last == "\(dispositions[2].rawValue) me")
        #expect(other.peek() == .url(.userCancelledAuthentication))
    }

    private static func read(_ stream: InputStream) -> Data {
        var bytes = [UInt8](repeating: 0, count: 16)
        stream.open()
        defer { stream.close() }
        let count = stream.read(&bytes, maxLength: bytes.count)
        return Data(bytes.prefix(count))
    }
}

/// Listens, and decides nothing.
private final class ListeningDecider: ExchangeDelegate {
    let log = Log<String>()

    func note(_ event: EngineEvent) {
        switch event {
        case .activity: log.add("activity")
        case .waiting: log.add("waiting")
        default: break
        }
    }
}

/// Never answers.
private final class SilentDecider: ExchangeDelegate {
    func decide(
        redirect head: ResponseHead,
        of task: any EngineTask,
        proposal: URLRequest,
        answer: @escaping @Sendable (URLRequest?) -> Void
    ) {}

    func decide(challenge: URLAuthenticationChallenge, of task: any EngineTask, answer: @escaping ChallengeAnswer) {}
}

/// Answers each challenge the same way.
private final class CredentialDecider: ExchangeDelegate {
    private let disposition: URLSession.AuthChallengeDisposition

    init(_ disposition: URLSession.AuthChallengeDisposition) {
        self.disposition = disposition
    }

    func decide(challenge: URLAuthenticationChallenge, of task: any EngineTask, answer: @escaping ChallengeAnswer) {
        answer(disposition, URLCredential(user: "me", password: "secret", persistence: .none))
    }
}

extension URLAuthenticationChallenge {
    fileprivate static func basic() -> URLAuthenticationChallenge {
        URLAuthenticationChallenge(
            protectionSpace: URLProtectionSpace(
                host: "host",
                port: 80,
                protocol: "http",
                realm: "r",
                authenticationMethod: NSURLAuthenticationMethodHTTPBasic
            ),
            proposedCredential: nil,
            previousFailureCount: 0,
            failureResponse: nil,
            error: nil,
            sender: NobodySender()
        )
    }
}

private final class NobodySender: NSObject, URLAuthenticationChallengeSender {
    func use(_ credential: URLCredential, for challenge: URLAuthenticationChallenge) {}
    func continueWithoutCredential(for challenge: URLAuthenticationChallenge) {}
    func cancel(_ challenge: URLAuthenticationChallenge) {}
    func performDefaultHandling(for challenge: URLAuthenticationChallenge) {}
    func rejectProtectionSpaceAndContinue(with challenge: URLAuthenticationChallenge) {}
}

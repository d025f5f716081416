import Foundation
import TestSupport
import Testing

@testable import DeferredNetworking

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// Refuses each response.
private final class RefusingReceiver: ResponseReceiver {
    let received = Log<Data>()
    let progress = Log<BodyProgress>()
    let end = Log<Result<ResponseHead, any Error>>()

    func receive(head: ResponseHead, of exchange: Exchange) -> HeadVerdict { .refuse }
    func receive(bytes: Data) { received.add(bytes) }
    func report(_ progress: BodyProgress) { self.progress.add(progress) }
    func finish(_ result: Result<ResponseHead, any Error>) -> AttemptEnd {
        end.add(result)
        return .result(result.map { .file($0) })
    }
}

@Suite("Refused bodies", .ownThread, .timeLimit(.minutes(1)))
struct RefusedBodyTests {
    private let head = ResponseHead.made(404)

    @Test func `the beginning of the body comes with the error`() throws {
        var body = RefusedBody(of: head)
        for piece in ["o", "ops"] { try body.append(Data(piece.utf8)) }
        let error = body.error(at: .success(head)) as? URLClientError
        #expect(error == .unacceptableStatus(code: 404, body: Data("oops".utf8)) && error?.head?.status == 404)
    }

    @Test func `no more is read than the limit`() throws {
        var body = RefusedBody(of: head)
        try body.append(Data(count: RefusedBody.limit - 1))
        let error = #expect(throws: URLClientError.self) { try body.append(Data(count: 100)) }
        #expect(error == .unacceptableStatus(code: 404, body: Data(count: RefusedBody.limit)))
    }

    @Test func `a body cut short is a refused one all the same, and another failure is itself`() {
        let refused = URLClientError.unacceptableStatus(code: 404, body: Data())
        for cut in [URLClientError.truncatedBody(received: 1, expected: 2), URLError(.networkConnectionLost)]
            as [any Error]
        {
            #expect(RefusedBody(of: head).error(at: .failure(cut)) as? URLClientError == refused)
        }
        #expect(RefusedBody(of: head).error(at: .failure(URLError(.timedOut))) is URLError)
    }

    @Test func `a receiver that refuses a response gets nothing of it but the error`() async throws {
        let receiver = RefusingReceiver()
        let retained = URLSessionEngine.retainedEngine(for: StubProtocol.session())
        let url = try #require(URL(string: "http://host/ok"))
        let request = try CheckedRequest(URLRequest(url: url)).fitted(to: retained.engine)
        let exchange = Exchange.begin(request, on: retained, to: receiver) { _, _ in }
        try await eventually { !receiver.end.entries.isEmpty }
        #expect(throws: URLClientError.unacceptableStatus(code: 200, body: Data("hello".utf8))) {
            try receiver.end.entries[0].get()
        }
        #expect(
            receiver.received.entries.isEmpty && receiver.progress.entries.isEmpty && receiver.end.entries.count == 1
        )
        withExtendedLifetime(exchange) {}
    }
}

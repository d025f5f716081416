import DeferredCore
import DeferredTask
import DeferredTesting
import Dispatch
import Foundation
import TestSupport
import Testing

@testable import DeferredNetworking

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

extension URLSessionTests {
    @Suite("The session's own delegate")
    struct Delegate {
        @Test func `A session's own delegate decides on redirects and challenges`() async throws {
            let server = try LoopbackServer { request in
                switch request.path {
                case "/redirect": .redirect(to: "/proposed")
                case "/chosen": .response(body: "chosen")
                case "/basic" where request.headers["Authorization"] == "Basic bWU6c2VjcmV0": .response(body: "welcome")
                case "/basic":
                    .response(401, headers: ["WWW-Authenticate": "Basic realm=\"here\""], body: "denied")
                default: .response(404)
                }
            }
            defer { server.stop() }
            let log = Log<String>()
            let delegate = DecidingDelegate(
                redirect: { response, request, answer in
                    log.add("\(response.statusCode) to \(request.url?.path ?? "")")
                    answer(URLRequest(url: server.url("/chosen")))
                },
                challenge: { challenge in
                    log.add("\(challenge.protectionSpace.realm ?? "") \(challenge.previousFailureCount)")
                    return (.useCredential, URLCredential(user: "me", password: "secret", persistence: .none))
                }
            )
            let session = URLSession.fresh(delegate: delegate)
            #expect(try await session.beginDataTask(with: server.url("/redirect")).text() == "chosen")
            #expect(try await session.beginDataTask(with: server.url("/basic")).text() == "welcome")
            #expect(log.entries == ["302 to /proposed", "here 0"])
        }

        @Test func `a refused redirect is delivered`() async throws {
            let server = try LoopbackServer { _ in .redirect(to: "/next") }
            defer { server.stop() }
            let session = URLSession.fresh(delegate: DecidingDelegate(redirect: { $2(nil) }))
            #expect(await session.beginDataTask(with: server.url("/")).ending() == .status(302))
            #expect(server.requestCount == 1)
        }

        @Test func `a request in answer to a redirect is checked like the first`() async throws {
            let server = try LoopbackServer { _ in .redirect(to: "/next") }
            defer { server.stop() }
            let delegate = DecidingDelegate(redirect: { _, request, answer in
                var request = request
                request.httpMethod = "GET\r\nX: y"
                answer(request)
            })
            let error = await URLSession.fresh(delegate: delegate).beginDataTask(with: server.url("/")).failure()
            #expect("\(error as Any)".contains(#""GET\r\nX: y""#))
        }

        @Test func `a credential that fails twice ends in the 401`() async throws {
            let server = try LoopbackServer { request in
                .response(401, headers: ["WWW-Authenticate": "Basic realm=\"r\""], body: "no \(request.number)")
            }
            defer { server.stop() }
            let delegate = DecidingDelegate(challenge: { _ in
                (.useCredential, URLCredential(user: "me", password: "wrong", persistence: .none))
            })
            let task = URLSession.fresh(delegate: delegate).beginDataTask(with: server.url("/"))
            #expect(try await task.text() == "no 2")
            #expect(server.requestCount == 2)
        }

        @Test func `a cancelled challenge fails with that`() async throws {
            let server = try LoopbackServer { _ in
                .response(401, headers: ["WWW-Authenticate": "Basic realm=\"r\""])
            }
            defer { server.stop() }
            let delegate = DecidingDelegate(challenge: { _ in (.cancelAuthenticationChallenge, nil) })
            let task = URLSession.fresh(delegate: delegate).beginDataTask(with: server.url("/"))
            #expect(await task.ending() == .url(.userCancelledAuthentication))
        }

        @Test func `a credential without a password does not trap`() async throws {
            let server = try LoopbackServer { _ in
                .response(401, headers: ["WWW-Authenticate": "Basic realm=\"r\""])
            }
            defer { server.stop() }
            let delegate = DecidingDelegate(challenge: { _ in (.useCredential, nil) })
            let task = URLSession.fresh(delegate: delegate).beginDataTask(with: server.url("/"))
            #expect(await task.ending() == .status(401))
        }

        @Test func `a delegate that never answers leaves a task that can be cancelled`() async throws {
            let server = try LoopbackServer { _ in .redirect(to: "/next") }
            defer { server.stop() }
            let asked = Deferred<Void>()
            let delegate = DecidingDelegate(redirect: { _, _, _ in asked.fill(with: ()) })
            let task = URLSession.fresh(delegate: delegate).beginDataTask(with: server.url("/"))
            await asked.value
            task.cancel()
            #expect(await task.ending() == .url(.cancelled))
        }

        private static func redirectingServer() throws -> LoopbackServer {
            try LoopbackServer { request in
                switch request.path {
                case "/": .redirect(to: "/proposed")
                case "/chosen": .response(body: "chosen")
                default: .response(404)
                }
            }
        }

        @Test func `a delegate that configure gives the task decides`() async throws {
            let server = try Self.redirectingServer()
            defer { server.stop() }
            let sessions = Log<String>()
            let session = URLSession.fresh(
                delegate: DecidingDelegate(redirect: { _, request, answer in
                    sessions.add(request.url?.path ?? "")
                    answer(request)
                })
            )
            let given = DecidingDelegate(redirect: { _, _, answer in answer(URLRequest(url: server.url("/chosen"))) })
            let task = session.beginDataTask(with: server.url("/"), configure: { $0.delegate = given })
            #expect(try await task.text() == "chosen")
            #expect(sessions.entries.isEmpty)
            #expect(await session.beginDataTask(with: server.url("/")).ending() == .status(404))
            #expect(sessions.entries == ["/proposed"])
        }

        @Test func `a delegate that configure gives decides, also when nobody holds the session`() async throws {
            let server = try Self.redirectingServer()
            defer { server.stop() }
            let given = DecidingDelegate(redirect: { _, _, answer in answer(URLRequest(url: server.url("/chosen"))) })
            let task = URLSession.fresh().beginDataTask(with: server.url("/"), configure: { $0.delegate = given })
            #expect(try await task.text() == "chosen")
        }

        @Test func `a session that is invalidated right behind begin lets it end`() async throws {
            let server = try LoopbackServer { _ in .response(body: "hello") }
            defer { server.stop() }
            for _ in 0..<50 {
                let session = URLSession.fresh()
                let task = session.beginDataTask(with: server.url("/"))
                session.finishTasksAndInvalidate()
                #expect(try await task.text() == "hello")
            }
        }

        @Test func `a task of a session whose delegate uses the main queue can be waited for there`() async throws {
            let server = try LoopbackServer { _ in .response(body: "hello") }
            defer { server.stop() }
            let directory = try TemporaryDirectory()
            let session = URLSession(configuration: .default, delegate: nil, delegateQueue: .main)
            let data = session.beginDataTask(with: server.url("/"))
            let file = session.beginDownloadTask(with: server.url("/"), to: directory.url.appending(path: "file"))
            let results = await MainActor.run {
                let deadline = DispatchTime.now() + 20
                return (data.wait(until: deadline) != nil, file.wait(until: deadline) != nil)
            }
            #expect(results == (true, true))
            #expect(try await data.text() == "hello")
            #expect(try Data(contentsOf: await file.get().0) == Data("hello".utf8))
        }

        #if !canImport(FoundationNetworking)
        @Test func `a redirected task is still the same`() async throws {
            let server = try LoopbackServer { request in
                request.path == "/" ? .redirect(to: "/next", status: 307) : .response(body: .bytes(request.body))
            }
            defer { server.stop() }
            let tasks = Log<Int>()
            let request = URLRequest.post(server.url("/"), Data("body".utf8))
            let task = URLSession.fresh().beginDataTask(with: request, configure: { tasks.add($0.taskIdentifier) })
            #expect(try await task.text() == "body")
            #expect(tasks.entries.count == 1)
        }

        @Test func `a delegate with the session's method alone is asked about the connection`() throws {
            let delegate = PinningDelegate()
            let decider = SessionDelegateDecider(URLSession.fresh(delegate: delegate))
            let session = URLSession.fresh()
            let url = try #require(URL(string: "http://host/"))
            let task = SessionTask(of: .idle(.checked(URLRequest(url: url))), as: 1)
            task.use(session.dataTask(with: url), .init())
            let answer = Deferred<URLSession.AuthChallengeDisposition>()
            decider.decide(challenge: .aboutTrust(), of: task) { disposition, _ in answer.fill(with: disposition) }
            #expect(answer.wait(until: .now() + 20) == .cancelAuthenticationChallenge)
        }
        #endif

        @Test func `a task that configure resumes, suspends or cancels ends all the same`() async throws {
            let server = try LoopbackServer { _ in .response(body: "hello") }
            defer { server.stop() }
            let session = URLSession.fresh()
            let changes: [@Sendable (URLSessionTask) -> Void] = [
                { $0.resume() },
                {
                    $0.resume(); $0.resume()
                }, { $0.suspend() },
                {
                    $0.suspend(); $0.suspend()
                },
            ]
            for change in changes {
                #expect(try await session.beginDataTask(with: server.url("/"), configure: change).text() == "hello")
            }
            let cancelled = session.beginDataTask(with: server.url("/"), configure: { $0.cancel() })
            #expect(await cancelled.ending() == .url(.cancelled))
        }
    }
}

#if !canImport(FoundationNetworking)
/// Trusts no server, and implements only the session's method for challenges.
private final class PinningDelegate: NSObject, URLSessionDelegate {
    func urlSession(
        _ session: URLSession,
        didReceive challenge: URLAuthenticationChallenge,
        completionHandler: @escaping @Sendable (URLSession.AuthChallengeDisposition, URLCredential?) -> Void
    ) {
        completionHandler(.cancelAuthenticationChallenge, nil)
    }
}

extension URLAuthenticationChallenge {
    fileprivate static func aboutTrust() -> URLAuthenticationChallenge {
        final class Sender: NSObject, URLAuthenticationChallengeSender {
            func use(_ credential: URLCredential, for challenge: URLAuthenticationChallenge) {}
            func continueWithoutCredential(for challenge: URLAuthenticationChallenge) {}
            func cancel(_ challenge: URLAuthenticationChallenge) {}
        }
        let space = URLProtectionSpace(
            host: "host",
            port: 443,
            protocol: "https",
            realm: nil,
            authenticationMethod: NSURLAuthenticationMethodServerTrust
        )
        return URLAuthenticationChallenge(
            protectionSpace: space,
            proposedCredential: nil,
            previousFailureCount: 0,
            failureResponse: nil,
            error: nil,
            sender: Sender()
        )
    }
}
#endif

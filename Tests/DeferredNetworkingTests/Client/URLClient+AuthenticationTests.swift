import DeferredCore
import DeferredTask
import DeferredTesting
import Foundation
import TestSupport
import Testing

@testable import DeferredNetworking

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

extension URLClientTests {
    @Suite("Authentication")
    struct Authentication {
        private static let basic = "Basic " + Data("me:secret".utf8).base64EncodedString()

        private func server(accepts field: String, challenge: String = "Basic realm=\"r\"") throws -> LoopbackServer {
            try LoopbackServer { request in
                request.headers["Authorization"] == field
                    ? .response(body: .text("welcome \(String(decoding: request.body, as: UTF8.self))"))
                    : .response(401, headers: ["WWW-Authenticate": challenge], body: "denied")
            }
        }

        private let denied = Ending.client(.unacceptableStatus(code: 401, body: Data("denied".utf8)))

        @Test(arguments: [
            "Basic realm=\"a\"": true, "Digest realm=\"a\", nonce=\"b\", bAsIc realm=\"c\"": true, "": true,
            "Digest realm=\"a\", nonce=\"b\"": false, "Negotiate": false,
        ])
        func `a password is sent after a challenge that asks for it`(challenge: String, isSent: Bool) async throws {
            let server = try server(accepts: Self.basic, challenge: challenge)
            defer { server.stop() }
            let client = URLClient.fresh { $0.authentication = .basic(user: "me", password: "secret") }
            #expect(await client.begin(server.url("/")).ending() == (isSent ? .status(200) : denied))
            #expect(server.requestCount == (isSent ? 2 : 1))
        }

        @Test(arguments: [(URLClient.Authentication.Moment.always, 1), (.challenged, 2)])
        func `a name and a password are sent at once, or when asked for`(
            moment: URLClient.Authentication.Moment,
            requestCount: Int
        ) async throws {
            let server = try server(accepts: Self.basic)
            defer { server.stop() }
            let client = URLClient.fresh { $0.authentication = .basic(user: "me", password: "secret", when: moment) }
            #expect(try await client.begin(.post(server.url("/"), Data("body".utf8))).text() == "welcome body")
            #expect(server.requestCount == requestCount)
        }

        @Test(arguments: [(URLClient.Authentication.Moment.always, 1), (.challenged, 2)])
        func `a wrong password ends with the 401`(
            moment: URLClient.Authentication.Moment,
            requestCount: Int
        ) async throws {
            let server = try server(accepts: Self.basic)
            defer { server.stop() }
            let client = URLClient.fresh { $0.authentication = .basic(user: "me", password: "wrong", when: moment) }
            #expect(await client.begin(server.url("/")).ending() == denied)
            #expect(server.requestCount == requestCount)
        }

        @Test(arguments: ["Basic realm=\"r\"", "Bearer", "Digest realm=\"r\", nonce=\"n\"", "Negotiate"])
        func `without credentials any challenge ends with the 401`(challenge: String) async throws {
            let server = try server(accepts: "nothing", challenge: challenge)
            defer { server.stop() }
            #expect(await URLClient.fresh().begin(server.url("/")).ending() == denied)
            #expect(server.requestCount == 1)
        }

        @Test func `an expired token is replaced by the one that the closure gives`() async throws {
            let server = try server(accepts: "Bearer new", challenge: "Bearer error=\"invalid_token\"")
            defer { server.stop() }
            let refused = Log<[URLClient.Credential]>()
            let client = URLClient.fresh {
                $0.authentication = .custom(preemptive: .bearer(token: "old")) { challenge in
                    refused.add(challenge.refused)
                    return Task { .bearer(token: "new") }
                }
            }
            #expect(try await client.begin(.post(server.url("/"), Data("body".utf8))).text() == "welcome body")
            #expect(refused.entries == [[.bearer(token: "old")]])
        }

        @Test func `each credential is tried once`() async throws {
            let server = try server(accepts: "nothing")
            defer { server.stop() }
            let client = URLClient.fresh {
                $0.authentication = .custom { _ in .success(.bearer(token: "same")) }
            }
            #expect(await client.begin(server.url("/")).ending() == denied)
            #expect(server.requestCount == 2)
        }

        @Test func `a closure that always finds another credential is asked five times`() async throws {
            let server = try server(accepts: "nothing")
            defer { server.stop() }
            let client = URLClient.fresh {
                $0.authentication = .custom { .success(.bearer(token: "t\($0.refused.count)")) }
            }
            #expect(await client.begin(server.url("/")).ending() == denied)
            #expect(server.requestCount == 6)
        }

        @Test func `the closure's failure is the request's`() async throws {
            let server = try server(accepts: "nothing")
            defer { server.stop() }
            let client = URLClient.fresh {
                $0.authentication = .custom { _ in .failure(CocoaError(.fileNoSuchFile)) }
            }
            #expect(await client.begin(server.url("/")).ending() == .cocoa(.fileNoSuchFile))
        }

        @Test func `cancelling while a credential is looked for cancels that`() async throws {
            let server = try server(accepts: "nothing")
            defer { server.stop() }
            let asked = Deferred<Void>()
            let answer = Task<URLClient.Credential?>.never
            let client = URLClient.fresh {
                $0.authentication = .custom { _ in
                    asked.fill()
                    return answer
                }
            }
            let task = client.begin(server.url("/"))
            await asked.value
            task.cancel()
            #expect(await task.ending() == .url(.cancelled))
            try await eventually { answer.isCancelled }
            #expect(client.transport.requestCount == 0)
        }

        @Test func `a request that is cancelled is not kept by a credential that never comes`() async throws {
            let server = try server(accepts: "nothing")
            defer { server.stop() }
            let (asked, answer, lifetimes) = (
                Deferred<Void>(), Deferred<Task<URLClient.Credential?>.Result>(), Lifetimes()
            )
            let client = URLClient.fresh {
                $0.authentication = .custom { _ in
                    asked.fill()
                    return Task(answer)
                }
            }
            var options: URLClient.RequestOptions? = URLClient.RequestOptions()
            options?.monitor = { [token = lifetimes.make()] _ in token.touch() }
            let task = client.begin(URLRequest(url: server.url("/")), options: options ?? .init())
            options = nil
            await asked.value
            task.cancel()
            #expect(await task.ending() == .url(.cancelled))
            try await eventually { lifetimes.count == 0 }
            withExtendedLifetime(answer) {}
        }

        @Test func `a request's own credential is left alone`() async throws {
            let server = try server(accepts: Self.basic)
            defer { server.stop() }
            let client = URLClient.fresh { $0.authentication = .basic(user: "me", password: "secret") }
            let request = URLRequest(server.url("/")) {
                $0.setValue("Bearer mine", forHTTPHeaderField: "Authorization")
            }
            #expect(await client.begin(request).ending() == denied)
            #expect(server.requests.map { $0.headers["Authorization"] } == ["Bearer mine"])
        }

        @Test func `a challenge of another origin is not answered`() async throws {
            let other = try server(accepts: Self.basic)
            defer { other.stop() }
            let server = try LoopbackServer { _ in .redirect(to: "http://localhost:\(other.port)/") }
            defer { server.stop() }
            let client = URLClient.fresh { $0.authentication = .basic(user: "me", password: "secret") }
            #expect(await client.begin(server.url("/")).ending() == denied)
        }

        @Test func `a description does not contain the secret`() {
            let credential = URLClient.Credential.basic(user: "me", password: "secret")
            #expect("\(credential) \(String(reflecting: credential))" == "basic(user: \"me\") basic(user: \"me\")")
            #expect("\(URLClient.Credential.bearer(token: "secret"))" == "bearer")
        }

        @Test(arguments: [
            URLClient.Credential.bearer(token: "abc\n"), .bearer(token: "a\r\nX-Evil: 1"), .bearer(token: "a\0"),
            .basic(user: "a:b", password: "c"), .basic(user: "a\n", password: "c"),
        ])
        func `a credential that cannot be sent as it is fails the request, and is not left out`(
            credential: URLClient.Credential
        ) async throws {
            let server = try LoopbackServer { _ in .response(401) }
            defer { server.stop() }
            let preemptive = URLClient.fresh {
                $0.authentication = .custom(preemptive: credential) { _ in .success(nil) }
            }
            let challenged = URLClient.fresh { $0.authentication = .custom { _ in .success(credential) } }
            for client in [preemptive, challenged] {
                let error = await client.begin(server.url("/")).failure() as? URLClientError
                guard case .invalidRequest? = error?.code else {
                    Issue.record("not refused")
                    continue
                }
            }
            // Only the challenge was fetched.
            #expect(server.requestCount == 1)
        }
    }
}

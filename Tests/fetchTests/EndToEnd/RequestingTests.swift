#if os(macOS) || os(Linux)
import Deferred
import DeferredTesting
import Foundation
import TestSupport
import Testing

@testable import fetch

@Suite("fetch: requests", .ownThread, .timeLimit(.minutes(5)))
struct RequestingTests {
    private let directory: TemporaryDirectory

    init() throws {
        directory = try TemporaryDirectory()
    }

    private func fetch(_ arguments: String..., input: String? = nil) async throws -> FetchProcess.Result {
        try await FetchProcess.run(["-o", directory.url.path + "/"] + arguments, input: input)
    }

    @Test func `a body makes a POST of a form, and method and type can be others`() async throws {
        let server = try LoopbackServer { _ in .response(body: "f") }
        let url = server.url("/f").absoluteString
        let file = directory.file("body")
        try Data("b=\n2\u{0}".utf8).write(to: file)
        #expect(try await fetch("-d", "a=1", "--data", "@\(file.path)", "-d@-", url, input: "c").code == 0)
        #expect(try await fetch("-X", "PUT", "-d", "{}", "-H", "content-type: application/json", url).code == 0)
        #expect(try await fetch("-X", "DELETE", url).code == 0)
        let requests = server.requests
        #expect(requests.map(\.method) == ["POST", "PUT", "DELETE"])
        #expect(requests.map { String(decoding: $0.body, as: UTF8.self) } == ["a=1&b=\n2\u{0}&c", "{}", ""])
        let types = ["application/x-www-form-urlencoded", "application/json", nil]
        #expect(requests.map { $0.headers["Content-Type"] } == types)
    }

    @Test func `a form has fields and files`() async throws {
        let server = try LoopbackServer { _ in .response(body: "f") }
        let photo = directory.file("photo \"1\".jpg")
        try Data([0, 255, 10]).write(to: photo)
        let result = try await fetch(
            "--form",
            "name=Ada=Grace",
            "--form",
            "photo=@\(photo.path)",
            server.url("/f").absoluteString
        )
        #expect(result.code == 0)
        let request = try #require(server.requests.first)
        let type = try #require(request.headers["Content-Type"])
        let boundary = try #require(type.split(separator: "boundary=").last)
        #expect(request.method == "POST" && type.hasPrefix("multipart/form-data; "))
        var expected = Data("--\(boundary)\r\nContent-Disposition: form-data; name=\"name\"\r\n\r\nAda=Grace\r\n".utf8)
        let disposition = "form-data; name=\"photo\"; filename=\"photo %221%22.jpg\""
        expected += Data("--\(boundary)\r\nContent-Disposition: \(disposition)\r\n".utf8)
        expected += Data("Content-Type: application/octet-stream\r\n\r\n".utf8) + [0, 255, 10]
        expected += Data("\r\n--\(boundary)--\r\n".utf8)
        #expect(request.body == expected)
    }

    @Test func `a body that can't be read fails before anything is asked for`() async throws {
        let server = try LoopbackServer { _ in .response(body: "f") }
        let missing = directory.file("missing").path
        for arguments in [["-d", "@\(missing)"], ["--form", "a=@\(missing)"], ["--cacert", missing]] {
            let result = try await FetchProcess.run(arguments + [server.url("/f").absoluteString])
            #expect(result.code == 1 && result.errors.hasPrefix("fetch: cannot read \"\(missing)\": No such file"))
        }
        #expect(server.requestCount == 0)
    }

    @Test func `a name and a password go to the server, and are never printed`() async throws {
        let server = try LoopbackServer { _ in .response(401, headers: ["WWW-Authenticate": "Basic realm=\"x\""]) }
        let result = try await fetch("-u", "ada:secret", "-v", "--json", server.url("/f").absoluteString)
        #expect(result.code == 1)
        let field = "Basic " + Data("ada:secret".utf8).base64EncodedString()
        #expect(server.requests.map { $0.headers["Authorization"] } == [field])
        for text in ["secret", "YWRh", "ada"] { #expect(!(result.output + result.errors).contains(text)) }
    }

    @Test func `with --digest the password isn't sent`() async throws {
        let server = try LoopbackServer { request in
            guard request.headers["Authorization"] == nil else { return .response(body: "f") }
            let challenge = "Digest realm=\"x\", nonce=\"1\", qop=\"auth\", algorithm=SHA-256"
            return .response(401, headers: ["WWW-Authenticate": challenge])
        }
        #expect(try await fetch("-u", "ada:secret", "--digest", server.url("/f").absoluteString).code == 0)
        let fields = server.requests.map { $0.headers["Authorization"] }
        #expect(fields.count == 2 && fields[0] == nil && fields[1]?.hasPrefix("Digest username=\"ada\"") == true)
    }

    @Test(arguments: [[], ["--digest"]])
    func `no secret crosses origins with a redirect`(digest: [String]) async throws {
        let other = try LoopbackServer { _ in
            .response(401, headers: ["WWW-Authenticate": "Basic realm=\"x\", Digest realm=\"x\", nonce=\"1\""])
        }
        let server = try LoopbackServer { _ in .redirect(to: other.url("/there").absoluteString, status: 307) }
        let secrets = ["-H", "Authorization: Bearer secret", "-H", "Cookie: a=secret"]
        for arguments in [["-u", "ada:secret"] + digest, secrets, ["-u", "ada:secret"] + digest + ["-X", "PUT"]] {
            let result = try await FetchProcess.run(
                ["-o", directory.url.path] + arguments + [server.url("/f").absoluteString]
            )
            #expect(result.code == 1 && result.errors.contains("the server answered 401"))
        }
        #expect(server.requestCount == 3 && other.requestCount == 3)
        #expect(other.requests.allSatisfy { $0.headers["Authorization"] == nil && $0.headers["Cookie"] == nil })
    }

    @Test func `a proxy gets the requests`() async throws {
        let proxy = try LoopbackServer { .response(body: .text($0.target)) }
        let result = try await fetch("--proxy", "http://ada:secret@127.0.0.1:\(proxy.port)", "http://h.invalid/f")
        #expect(result.code == 0, "\(result.errors)")
        #expect(try directory.contents(of: "f") == Data("http://h.invalid/f".utf8))
    }

    #if os(Linux)
    @Test func `a proxy that can't be reached is not mistaken for the host`() async throws {
        let refusing = try RefusingPort()
        let proxy = "http://ada:secret@127.0.0.1:\(refusing.number)"
        let result = try await fetch("--proxy", proxy, "--retries=0", "http://h.invalid/f")
        #expect(result.code == 1 && result.errorLines.count == 1)
        #expect(result.errors.contains("127.0.0.1") && result.errors.contains("check the proxy, the host and the port"))
        #expect(!result.errors.contains("secret"))
        let process = try FetchProcess(
            ["-o", directory.url.path, "--retries=0", "http://h.invalid/f"],
            environment: ["http_proxy": proxy]
        )
        let inherited = try await process.result()
        withExtendedLifetime(refusing) {}
        #expect(inherited.code == 1 && inherited.errors.contains("check the proxy, the host and the port"))
        #expect(!inherited.errors.contains("secret"))
    }
    #endif

    #if os(Linux)
    @Test(.enabled(if: LoopbackServer.canDoTLS)) func `only authorities in the file are trusted`() async throws {
        let authority = try LoopbackServer.Authority(name: "The authority")
        let server = try LoopbackServer(tls: .init(authority.issue())) { _ in .response(body: "f") }
        let (file, url) = (directory.file("ca.pem"), server.url("/f").absoluteString)
        try authority.certificate.write(to: file)
        let refused = try await fetch("--retries=0", url)
        #expect(refused.code == 1 && refused.errors.contains("the server's certificate is not valid"))
        let result = try await fetch("--cacert", file.path, url)
        #expect(result.code == 0, "\(result.errors)")
    }

    @Test func `a limit of the rate holds, and over URLSession it is refused with the option to use`() async throws {
        let server = try LoopbackServer { _ in .response(body: .pattern(count: 50_000)) }
        let url = server.url("/f").absoluteString
        let start = ContinuousClock.now
        #expect(try await fetch("--limit-rate", "100k", url).code == 0)
        #expect(.now - start > .milliseconds(450))
        let refused = try await fetch("--limit-rate", "100k", "--engine=urlsession", url)
        #expect(refused.code == 1)
        #expect(refused.errors == "fetch: \(url): URLSession has no rate limits; use --engine libcurl\n")
    }

    @Test func `Ctrl-C ends a download at once while its limit makes it wait`() async throws {
        // The first KiB is read at once, perhaps with the head in it.
        let server = try LoopbackServer { .resumable(.pattern(count: 60_000), for: $0) }
        let terminal = try PseudoTerminal(columns: 80)
        let process = try FetchProcess(
            ["-o", directory.url.path, "--limit-rate=1", server.url("/f").absoluteString],
            terminal: terminal.child
        )
        terminal.read()
        #expect(try await terminal.wait(for: "  1% "))
        process.send(SIGINT)
        #expect(try await process.result().code == 130)
        #expect(try directory.names == ["f.partial", "f.partial.validator"])
    }
    #endif
}
#endif

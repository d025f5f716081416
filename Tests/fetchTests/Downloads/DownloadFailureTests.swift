import Deferred
import Foundation
import TestSupport
import Testing

@testable import fetch

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

@Suite("Download failures", .ownThread, .timeLimit(.minutes(1)))
struct DownloadFailureTests {
    @Test(
        arguments: [
            (401, "check that you have access to this file, or log in with --user or --header"),
            (404, "check the path of the URL"),
            (418, "check the URL"), (429, "try again later"), (503, "try again later"),
        ]
    )
    func `a status is reported with its name and advice`(code: Int, advice: String) {
        let failure = DownloadFailure(URLClientError.unacceptableStatus(code: code, body: Data()))
        #expect(failure.reason.hasPrefix("the server answered \(code) ("))
        #expect(failure.advice == advice)
    }

    @Test(
        arguments: [
            (.cannotConnectToHost, "the host refuses the connection"), (.timedOut, "the server stopped answering"),
            (.serverCertificateUntrusted, "the server's certificate is not valid"),
            (.badServerResponse, "the server's answer is not valid HTTP"),
        ] as [(URLError.Code, String)]
    )
    func `network failures are described in plain words`(code: URLError.Code, reason: String) {
        #expect(DownloadFailure(URLError(code)).reason == reason)
    }

    @Test func `failures of the disk say where`() {
        let error = CocoaError(.fileWriteOutOfSpace, userInfo: [NSLocalizedDescriptionKey: "Cannot write /x: full"])
        let failure = DownloadFailure(error)
        #expect(failure == DownloadFailure(reason: "Cannot write /x: full", advice: "free some space on the disk"))
        let locked = CocoaError(.fileLocking, userInfo: [NSLocalizedDescriptionKey: "Cannot write a; b: busy; wait"])
        #expect(DownloadFailure(locked) == DownloadFailure(reason: "Cannot write a; b: busy", advice: "wait"))
    }

    @Test func `a truncated body says how much came`() {
        let failure = DownloadFailure(URLClientError.truncatedBody(received: 1_000, expected: 5_000))
        #expect(failure.reason == "the connection ended after 1.00 kB of 5.00 kB")
    }

    @Test func `the advice of an invalid request is kept`() {
        let failure = DownloadFailure(URLClientError.invalidRequest(reason: "the port 0 is wrong; use 1 to 65535"))
        #expect(failure == DownloadFailure(reason: "the port 0 is wrong", advice: "use 1 to 65535"))
        let brief = DownloadFailure(URLClientError.invalidRequest(reason: "it is wrong"))
        #expect(brief == DownloadFailure(reason: "it is wrong", advice: "correct the URL"))
    }

    @Test(
        arguments: [
            ("no; use a URLClient with the engine .libcurl, or a host name", "use --engine libcurl, or a host name"),
            ("no Linux; use .urlSession, which is safe here", "use --engine urlsession, which is safe here"),
            (
                "no rate limits; use the engine libcurl: Configuration.engine, and libcurl installed",
                "use --engine libcurl"
            ),
            ("no TLS; use the engine .libcurl", "use --engine libcurl"),
        ]
    )
    func `advice names options, not settings of the library`(reason: String, advice: String) {
        #expect(DownloadFailure(URLClientError.engineUnavailable(reason: reason)).advice == advice)
    }

    @Test func `the line is one line, and names the URL, the reason, the attempts, the advice, and the bytes kept`() {
        let failure = DownloadFailure(reason: "it\nfailed", advice: "try\u{1B}[2J")
        #expect(failure.line(for: "http://a:b@h/") == "http://…@h/: it\\u{A}failed; try\\u{1B}[2J")
        #expect(
            failure.line(for: "u", attempts: 5, kept: 1_000) == "u: it\\u{A}failed (tried 5 times); try\\u{1B}[2J "
                + "(1.00 kB are kept; run the same command again to resume)"
        )
        #expect(failure.line(for: "").hasPrefix("\"\": "))
    }
}

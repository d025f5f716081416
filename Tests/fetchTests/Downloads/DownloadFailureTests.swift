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
        "Statuses that may pass are transient, and no others",
        arguments: [401, 403, 404, 408, 410, 418, 429, 500, 502, 503, 504, 505]
    )
    func statuses(code: Int) {
        let failure = DownloadFailure(URLClientError.unacceptableStatus(code: code, body: Data()))
        #expect(failure.isTransient == [408, 429, 500, 502, 503, 504].contains(code))
        #expect(failure.reason.contains("\(code)"))
    }

    @Test(
        "Failures of the network are transient, and those of the request or the certificate are not",
        arguments: [
            (.cannotConnectToHost, true), (.cannotFindHost, true), (.timedOut, true), (.networkConnectionLost, true),
            (.badServerResponse, false), (.serverCertificateUntrusted, false), (.secureConnectionFailed, false),
            (.httpTooManyRedirects, false), (.cancelled, false), (.badURL, false),
        ] as [(URLError.Code, Bool)]
    )
    func networkErrors(code: URLError.Code, isTransient: Bool) {
        #expect(DownloadFailure(URLError(code)).isTransient == isTransient)
    }

    @Test("Failures of the disk are not transient, and say where")
    func fileErrors() {
        let error = CocoaError(.fileWriteOutOfSpace, userInfo: [NSLocalizedDescriptionKey: "Cannot write /x: full"])
        let failure = DownloadFailure(error)
        #expect(failure == DownloadFailure("Cannot write /x: full", advice: "make room on the disk"))
    }

    @Test("A truncated body is transient, and says how much came")
    func truncated() {
        let failure = DownloadFailure(URLClientError.truncatedBody(received: 1_000, expected: 5_000))
        #expect(failure.isTransient)
        #expect(failure.reason == "the connection ended after 1.00 kB of 5.00 kB")
    }

    @Test("What an invalid request advises is the advice")
    func invalidRequest() {
        let failure = DownloadFailure(URLClientError.invalidRequest(reason: "the port 0 is wrong; use 1 to 65535"))
        #expect(failure == DownloadFailure("the port 0 is wrong", advice: "use 1 to 65535"))
        let brief = DownloadFailure(URLClientError.invalidRequest(reason: "it is wrong"))
        #expect(brief == DownloadFailure("it is wrong", advice: "correct the URL"))
    }

    @Test("The line is one line, and names the URL, the reason, the attempts, the advice, and what is kept")
    func lines() {
        let failure = DownloadFailure("it\nfailed", advice: "try\u{1B}[2J")
        #expect(failure.line(for: "http://a:b@h/") == "http://…@h/: it\\u{A}failed; try\\u{1B}[2J")
        #expect(
            failure.line(for: "u", attempts: 5, kept: 1_000) == "u: it\\u{A}failed (tried 5 times); try\\u{1B}[2J "
                + "(1.00 kB are kept: the same command goes on from there)"
        )
        #expect(failure.line(for: "").hasPrefix("\"\": "))
    }
}

import Foundation
import TestSupport
import Testing

@testable import DeferredNetworking

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

@Suite("Error mapping", .ownThread, .timeLimit(.minutes(1)))
struct ErrorMappingTests {
    private let url = URL(string: "http://host/path")

    private func mapped(
        _ code: URLError.Code,
        _ text: String,
        received: Int64 = 0,
        expected: Int64? = nil,
        hasResponse: Bool = false
    ) -> any Error {
        ErrorMapping.mapped(
            URLError(code, failing: nil, description: text),
            in: .init(url: url, received: received, expected: expected, hasResponse: hasResponse)
        )
    }

    @Test(arguments: [
        (
            URLError.Code.unsupportedURL, "Unsupported HTTP version in response", false,
            URLError.Code.badServerResponse
        ),
        (.badServerResponse, "Empty reply from server", false, .networkConnectionLost),
        (.unknown, "Failed writing header", false, .badServerResponse),
        (.unknown, "Invalid Content-Length: value", false, .badServerResponse),
        (.unknown, "A libcurl function was given a bad argument", false, .badServerResponse),
        (.unknown, "Connection died, tried 5 times before giving up", false, .networkConnectionLost),
        (.unknown, "Send failure: Broken pipe", false, .networkConnectionLost),
        (.unknown, "Recv failure: Connection reset by peer", true, .networkConnectionLost),
        (.unknown, "transfer closed with outstanding read data remaining", true, .networkConnectionLost),
        (.unknown, "something new", true, .badServerResponse),
        (.unknown, "something new", false, .unknown),
        (.unknown, "SSL certificate problem: self-signed certificate", false, .serverCertificateUntrusted),
        (.unknown, "SSL certificate problem: certificate has expired", false, .serverCertificateHasBadDate),
        (.unknown, "OpenSSL SSL_connect: SSL_ERROR_SYSCALL", false, .networkConnectionLost),
        (.unknown, "OpenSSL SSL_connect: Connection reset by peer in connection to h", false, .networkConnectionLost),
        (.unknown, "Received HTTP code 0 from proxy after CONNECT", false, .badServerResponse),
        (.secureConnectionFailed, "Recv failure: Connection reset by peer", false, .networkConnectionLost),
        (.unknown, "SSL routines::wrong version number", false, .secureConnectionFailed),
        (.timedOut, "", false, .timedOut),
        (.cancelled, "", true, .cancelled),
        (.networkConnectionLost, "Recv failure", true, .networkConnectionLost),
        (.cannotConnectToHost, "Failed to connect", false, .cannotConnectToHost),
        (.cannotParseResponse, "cannot parse response", false, .badServerResponse),
        (.cannotDecodeRawData, "cannot decode raw data", true, .badServerResponse),
        (.cannotDecodeContentData, "", true, .badServerResponse),
        (.dataLengthExceedsMaximum, "resource exceeds maximum size", false, .badServerResponse),
        (.zeroByteResource, "zero byte resource", false, .networkConnectionLost),
    ])
    func `the code names the cause`(code: URLError.Code, text: String, hasResponse: Bool, expected: URLError.Code)
        throws
    {
        let error = try #require(mapped(code, text, hasResponse: hasResponse) as? URLError)
        #expect(error.code == expected)
        #expect(error.failingURL == url)
        #expect(error.localizedDescription == LibcurlTexts.explained(text))
    }

    @Test(arguments: [
        "transfer closed with 500 bytes remaining to read",
        "OpenSSL SSL_read: error:0A000126:SSL routines::unexpected eof while reading, errno 0",
    ])
    func `a truncated body is reported with both lengths`(text: String) {
        let error = mapped(.unknown, text, received: 500, expected: 1000, hasResponse: true)
        #expect(error as? URLClientError == .truncatedBody(received: 500, expected: 1000))
    }

    @Test(arguments: [4, 1])
    func `on Darwin a truncated body is distinguished from a broken connection`(domain: Int) {
        for isNested in [false, true] {
            let info = ["_kCFStreamErrorDomainKey": domain, "_kCFStreamErrorCodeKey": -4] as [String: Any]
            let cause = NSError(domain: "kCFErrorDomainCFNetwork", code: -1005, userInfo: info)
            let error = URLError(.networkConnectionLost, userInfo: isNested ? [NSUnderlyingErrorKey: cause] : info)
            let context = ErrorMapping.Context(url: url, received: 5, expected: 10, hasResponse: true)
            let mapped = ErrorMapping.mapped(error, in: context)
            if domain == 4 {
                #expect(mapped as? URLClientError == .truncatedBody(received: 5, expected: 10))
            } else {
                #expect((mapped as? URLError)?.code == .networkConnectionLost)
            }
        }
    }

    @Test func `further details from the platform are kept`() throws {
        let url = try #require(url)
        let error = URLError(.unsupportedURL, userInfo: ["NSURLErrorNetworkUnavailableReasonKey": 1])
        for restated in [ErrorMapping.mapped(error, in: .init(url: url)), error.naming(url)] {
            let restated = try #require(restated as? URLError)
            #expect(restated.userInfo["NSURLErrorNetworkUnavailableReasonKey"] as? Int == 1)
            #expect(restated.failingURL == url)
        }
    }

    @Test(arguments: [
        ("Unsupported proxy syntax in 'http://me:a b@c:1@host:3128': why", "in 'http://…@host:3128': why"),
        ("Unsupported proxy scheme for 'ftp://me:secret@host'", "for 'ftp://…@host'"),
        ("Unsupported proxy syntax in 'me:a://b@host'", "in '…@host'"),
        ("Unsupported proxy syntax in 'http://me:a secret that is so long that the text e", "in 'http://…@…"),
        ("Couldn't resolve proxy 'host'", "Couldn't resolve proxy 'host'"),
        ("Couldn't connect to server", "Couldn't connect to server"),
    ])
    func `libcurl's texts are shown without the credentials of a proxy`(text: String, end: String) {
        #expect(LibcurlTexts.redacted(text).hasSuffix(end))
        let cause = URLError(.unknown, failing: nil, description: text)
        let error = URLError(.unknown, failing: nil, description: text, underlying: cause)
        let mapped = ErrorMapping.mapped(error, in: .init(url: url)) as? URLError
        #expect(mapped?.localizedDescription.hasSuffix(end) == true)
        #expect((mapped?.userInfo[NSUnderlyingErrorKey] != nil) == text.hasPrefix("Couldn't"))
    }

    @Test func `headers cut short are a lost connection`() {
        let error = mapped(.unknown, "transfer closed with 5 bytes remaining to read")
        #expect((error as? URLError)?.code == .networkConnectionLost)
    }

    @Test func `a failing URL that is known already stays`() {
        let other = URL(string: "http://other/")
        let error = ErrorMapping.mapped(URLError(.timedOut, failing: other), in: .init(url: url))
        #expect((error as? URLError)?.failingURL == other)
    }

    @Test(arguments: [
        ("http://me:secret@host/a?b#c", "http://host/a?b#c"), ("http://me@host/", "http://host/"),
        ("http://:secret@[::1]:80", "http://[::1]:80"), ("http://host/@?a@b", "http://host/@?a@b"),
        ("http://m%40e:se%2Fcret@host/%2F?%20", "http://host/%2F?%20"), ("mailto:me@host", "mailto:me@host"),
    ])
    func `a failing URL has no user and no password`(text: String, shown: String) throws {
        let url = try #require(URL(string: text))
        let platform = URLError(.timedOut, userInfo: [NSURLErrorFailingURLErrorKey: url])
        let bare = URLError(.timedOut)
        for error in [ErrorMapping.mapped(platform, in: .init(url: url)), bare.naming(url)] {
            let error = try #require(error as? URLError)
            #expect(error.failingURL?.absoluteString == shown)
            #expect(!"\(error)".contains("cret") && !"\(error)".contains("me:"))
        }
    }

    @Test func `errors of other domains are passed on`() {
        let error = ErrorMapping.mapped(CocoaError(.fileNoSuchFile), in: .init(url: url))
        #expect((error as? CocoaError)?.code == .fileNoSuchFile)
    }

    @Test func `messages of the library's own errors are one line that names the value`() {
        let errors: [(URLClientError, String)] = [
            (.bodyTooLarge(limit: 10), "10 bytes"), (.lineTooLong(limit: 10), "lines(upTo:)"),
            (.unacceptableStatus(code: 404, body: Data([1, 2])), "status 404 and a body of 2 bytes"),
            (.deadlineExceeded, "deadline"),
            (.shutDown, "shut down"),
            (.truncatedBody(received: 5, expected: 10), "5 of 10 bytes"),
        ]
        for (error, text) in errors {
            #expect(error.description.contains(text))
            #expect(!error.description.contains("\n"))
            #expect((error as any Error).localizedDescription == error.description)
        }
    }
}

import Deferred
import Foundation

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// The failure of a download, described for the user.
struct DownloadFailure: Error, Equatable {
    /// The cause, with the offending value, as the middle of a sentence.
    let reason: String

    /// Advice on a remedy.
    let advice: String

    /// Returns the line for standard error, with the number of bytes from which the next run can resume.
    func line(for url: String, attempts: Int = 1, kept: Int64 = 0) -> String {
        let tried = attempts > 1 ? " (tried \(attempts) times)" : ""
        let rest = kept > 0 ? " (\(ProgressText.bytes(kept)) are kept; run the same command again to resume)" : ""
        return PrintableText.escaping(
            "\(url.isEmpty ? "\"\"" : PrintableText.url(url)): \(reason)\(tried); \(advice)\(rest)"
        )
    }
}

extension DownloadFailure {
    /// Creates the description of a download's error.
    ///
    /// - Parameter hasProxy: True if it may be the proxy that can't be reached.
    init(_ error: any Error, hasProxy: Bool = false) {
        switch error {
        case let error as DownloadFailure:
            self = error
        case let error as URLClientError:
            self.init(error.code)
        case let error as URLError where hasProxy && [.cannotConnectToHost, .cannotFindHost].contains(error.code):
            self.init(reason: error.localizedDescription, advice: "check the proxy, the host and the port")
        case let error as URLError where error.code == .unknown:
            self.init(advising: error.localizedDescription)
        case let error as URLError:
            let known = Self.network.first { $0.codes.contains(error.code) }
            self.init(reason: known?.reason ?? error.localizedDescription, advice: known?.advice ?? "check the URL")
        case let error as CocoaError where error.code == .fileWriteOutOfSpace:
            self.init(reason: error.localizedDescription, advice: "free some space on the disk")
        case let error as CocoaError where [.fileLocking, .fileWriteFileExists].contains(error.code):
            self.init(advising: error.localizedDescription)
        default:
            self.init(reason: error.localizedDescription, advice: "choose another directory with --output")
        }
    }

    private init(_ code: URLClientError.Code) {
        switch code {
        case .unacceptableStatus(let status, _):
            let advice = Self.statuses.first { $0.codes.contains(status) }?.advice ?? "check the URL"
            let name = HTTPURLResponse.localizedString(forStatusCode: status)
            self.init(reason: "the server answered \(status) (\(name))", advice: advice)
        case .truncatedBody(let received, let expected):
            let (part, whole) = (ProgressText.bytes(received), ProgressText.bytes(expected))
            self.init(reason: "the connection ended after \(part) of \(whole)", advice: "try again later")
        case .invalidRequest(let reason), .engineUnavailable(let reason):
            self.init(advising: reason)
        case .deadlineExceeded, .bodyTooLarge, .lineTooLong, .shutDown:
            self.init(reason: code.description, advice: "try again")
        }
    }

    /// Splits a text that usually ends with advice, after a semicolon.
    private init(advising text: String) {
        let parts = Self.spelling(text).components(separatedBy: "; ")
        let advice = parts.count > 1 ? parts[parts.count - 1] : "correct the URL"
        self.init(reason: parts.prefix(max(1, parts.count - 1)).joined(separator: "; "), advice: advice)
    }

    /// Replaces settings of the library by options of the program.
    private static func spelling(_ text: String) -> String {
        [
            ("the engine libcurl: Configuration.engine, and libcurl installed", "--engine libcurl"),
            ("a URLClient with the engine .libcurl", "--engine libcurl"), ("the engine .libcurl", "--engine libcurl"),
            ("the engine .urlSession", "--engine urlsession"), (".urlSession", "--engine urlsession"),
        ].reduce(text) { $0.replacing($1.0, with: $1.1) }
    }

    private static let statuses: [(codes: Set<Int>, advice: String)] = [
        ([401, 403, 407], "check that you have access to this file, or log in with --user or --header"),
        ([404, 410], "check the path of the URL"),
        ([408, 429, 500, 502, 503, 504], "try again later"),
    ]

    private static let certificate: Set<URLError.Code> = [
        .serverCertificateHasBadDate, .serverCertificateUntrusted, .serverCertificateHasUnknownRoot,
    ]

    private static let network: [(codes: Set<URLError.Code>, reason: String, advice: String)] = [
        ([.cannotConnectToHost], "the host refuses the connection", "check host and port"),
        ([.cannotFindHost, .dnsLookupFailed], "the host is unknown", "check the host name and the network"),
        ([.timedOut], "the server stopped answering", "try again later"),
        ([.networkConnectionLost, .notConnectedToInternet], "the connection was lost", "check the network"),
        ([.badServerResponse], "the server's answer is not valid HTTP", "check that a web server uses this port"),
        ([.httpTooManyRedirects], "the server redirects in a loop", "check the URL in a browser"),
        (certificate, "the server's certificate is not valid", "check the host name and this system's clock"),
        ([.secureConnectionFailed], "a secure connection could not be made", "check that the port speaks https"),
    ]
}

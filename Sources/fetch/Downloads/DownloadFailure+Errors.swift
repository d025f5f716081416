import Deferred
import Foundation

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

extension DownloadFailure {
    /// What an error of a download means.
    init(_ error: any Error) {
        switch error {
        case let error as DownloadFailure: self = error
        case let error as URLClientError: self.init(error)
        case let error as URLError: self.init(error)
        case let error as CocoaError: self.init(error)
        default: self.init("\(error)", advice: "try again later")
        }
    }

    private init(_ error: URLClientError) {
        switch error.code {
        case .unacceptableStatus(let code, _):
            self.init(status: code)
        case .truncatedBody(let received, let expected):
            self.init(
                "the connection ended after \(ProgressText.bytes(received)) of \(ProgressText.bytes(expected))",
                advice: "try again later",
                isTransient: true
            )
        case .invalidRequest(let reason):
            // It ends with what to do about it, mostly.
            let parts = reason.split(separator: "; ")
            self.init(
                parts.dropLast(parts.count > 1 ? 1 : 0).joined(separator: "; "),
                advice: parts.count > 1 ? String(parts[parts.count - 1]) : "correct the URL"
            )
        case .deadlineExceeded:
            self.init("it took too long", advice: "try again later", isTransient: true)
        case .engineUnavailable:
            self.init(error.code.description, advice: "use the engine of this platform")
        case .bodyTooLarge, .shutDown:
            self.init(error.code.description, advice: "try again")
        }
    }

    private init(status: Int) {
        let text = "the server answered \(status) (\(HTTPURLResponse.localizedString(forStatusCode: status)))"
        switch status {
        case 401, 403, 407:
            self.init(text, advice: "check that you may have this file without logging in")
        case 404, 410:
            self.init(text, advice: "check the path of the URL")
        case 408, 429, 500, 502, 503, 504:
            self.init(text, advice: "try again later", isTransient: true)
        case 300..<400:
            self.init(text, advice: "find out where the file has moved to")
        default:
            self.init(text, advice: "check the URL")
        }
    }

    private init(_ error: URLError) {
        switch error.code {
        case .cannotConnectToHost:
            self.init("the host refuses the connection", advice: "check host and port", isTransient: true)
        case .cannotFindHost, .dnsLookupFailed:
            self.init("the host is not known", advice: "check the host's name and the network", isTransient: true)
        case .timedOut:
            self.init("the server stopped answering", advice: "try again later", isTransient: true)
        case .networkConnectionLost, .notConnectedToInternet, .resourceUnavailable, .unknown:
            self.init("the connection was lost", advice: "check the network", isTransient: true)
        case .badServerResponse, .cannotParseResponse, .cannotDecodeRawData, .cannotDecodeContentData:
            self.init("the server's answer is not valid HTTP", advice: "check that the port is one of a web server")
        case .httpTooManyRedirects:
            self.init("the server redirects without end", advice: "check the URL in a browser")
        case .serverCertificateHasBadDate, .serverCertificateUntrusted, .serverCertificateNotYetValid,
            .serverCertificateHasUnknownRoot:
            self.init("the server's certificate is not valid", advice: "check the host's name and this system's clock")
        case .secureConnectionFailed:
            self.init("no secure connection could be made", advice: "check that the port speaks https")
        case .cancelled:
            self.init("it was stopped", advice: "run the same command again")
        default:
            self.init(error.localizedDescription, advice: "check the URL and the network")
        }
    }

    private init(_ error: CocoaError) {
        let advice =
            switch error.code {
            case .fileWriteOutOfSpace: "make room on the disk"
            case .fileLocking: "run one download of a file at a time"
            default: "choose another directory with --output"
            }
        self.init(error.localizedDescription, advice: advice)
    }
}

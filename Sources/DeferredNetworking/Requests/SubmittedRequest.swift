#if canImport(FoundationNetworking)
package import FoundationNetworking
#else
package import Foundation
#endif

/// A request that is handed to a client.
package enum SubmittedRequest: Sendable {
    /// One of a caller's, still to be checked.
    case unchecked(URLRequest, CheckedRequest.Body = .inRequest)

    /// One that was checked when it was built.
    case checked(CheckedRequest)

    var request: URLRequest {
        switch self {
        case .unchecked(let request, _): request
        case .checked(let request): request.request
        }
    }

    /// - Parameter engine: See ``CheckedRequest/init(_:body:for:)``.
    func checked(for engine: (any Engine)?) throws(URLClientError) -> CheckedRequest {
        switch self {
        case .unchecked(let request, let body):
            return try CheckedRequest(request, body: body, for: engine)
        case .checked(let request):
            guard engine?.defaultHeaders.isEmpty ?? true else {
                return try CheckedRequest(request.request, body: request.body, for: engine)
            }
            try engine?.checkHost(of: request.url)
            return request
        }
    }
}

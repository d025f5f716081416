#if canImport(FoundationNetworking)
import Foundation
public import FoundationNetworking
#else
public import Foundation
#endif

extension URLClient {
    /// The rules by which a client follows redirects.
    ///
    /// `301` and `302` turn a `POST` into a `GET`, `303` everything but `HEAD`; `307` and `308` keep method and body.
    /// `Authorization`, `Cookie` and other headers that ``Redaction`` takes for secrets don't cross origins. A request
    /// with a one-shot `httpBodyStream` can't be sent again, and fails with `URLError.requestBodyStreamExhausted`.
    ///
    /// A redirect that isn't followed becomes the response, on Linux without its body, and is subject to
    /// ``Configuration/validation``. A redirect beyond the limit fails the request with
    /// `URLError.httpTooManyRedirects`, whose description contains the chain.
    public struct RedirectPolicy: Sendable {
        let limit: Int

        /// True if the closure is the caller's.
        var isCustom = false
        let decide: @Sendable (ResponseHead, URLRequest) -> URLRequest?

        /// Follows redirects up to a limit.
        public static func follow(atMost limit: Int = 20) -> Self {
            Self(limit: limit) { _, proposal in proposal }
        }

        /// Follows redirects up to a limit, as long as scheme, host and port stay the same.
        public static func sameOrigin(atMost limit: Int = 20) -> Self {
            Self(limit: limit) { head, proposal in
                guard let to = proposal.url, Origin(of: head.url) == Origin(of: to) else {
                    return nil
                }
                return proposal
            }
        }

        /// Follows no redirects.
        public static let none = Self(limit: .max) { _, _ in nil }

        /// Decides with a closure.
        ///
        /// - Parameters:
        ///   - limit: The maximum number of redirects to follow, whatever the closure returns.
        ///   - decide: Takes the redirect and the request that would be sent next, and returns the request to send, or
        ///     `nil` to take the redirect as the response. To another origin than the proposal's, secrets that are in the
        ///     proposal aren't sent, but other values are. Called on internal threads; must not block.
        public static func custom(
            atMost limit: Int = 20,
            _ decide: @escaping @Sendable (_ redirect: ResponseHead, _ proposal: URLRequest) -> URLRequest?
        ) -> Self {
            Self(limit: limit, isCustom: true, decide: decide)
        }
    }
}

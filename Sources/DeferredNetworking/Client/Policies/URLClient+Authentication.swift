public import DeferredTask

#if canImport(FoundationNetworking)
import Foundation
public import FoundationNetworking
#else
public import Foundation
#endif

extension URLClient {
    /// When and how a client says who it is.
    ///
    /// A credential goes to the origin that the request names, and to no other one that it is redirected to. A request
    /// with an `Authorization` of its own is left alone. Each credential is tried once for a request: when it is
    /// refused, the `401` is the response; at most five are tried. So it is when the request has a one-shot
    /// `httpBodyStream`, which can't be sent again.
    ///
    /// Digest and client certificates can't be had over URLSession on Linux.
    public struct Authentication: Sendable {
        /// When a credential is sent.
        public enum Moment: Sendable, Hashable {
            /// With every request.
            case always

            /// After a `401`, in a second attempt.
            case challenged
        }

        /// A `401`, and what was tried before it.
        public struct Challenge: Sendable {
            /// The response, with its `WWW-Authenticate`.
            public let response: HTTPURLResponse

            /// What this request has tried and the server has refused, the latest last.
            public let refused: [Credential]
        }

        let preemptive: Credential?
        let answer: (@Sendable (Challenge) -> Task<Credential?>)?

        /// No credentials.
        public static let none = Self(preemptive: nil, answer: nil)

        /// A name and a password.
        public static func basic(user: String, password: String, when moment: Moment = .challenged) -> Self {
            Self(.basic(user: user, password: password), moment)
        }

        /// A token.
        public static func bearer(_ token: String, when moment: Moment = .always) -> Self {
            Self(.bearer(token: token), moment)
        }

        /// Lets a closure answer challenges: for tokens that expire.
        ///
        /// - Parameters:
        ///   - credential: Sent with every request, before any challenge; `nil` for none.
        ///   - answer: Gives the credential for a second attempt, or `nil` to take the `401` as the response. One that was
        ///     refused before counts as `nil`. When its task fails, the request does so with the same error; when the request
        ///     is cancelled, its task is. Called on internal threads; must not block.
        public static func custom(
            preemptive credential: Credential? = nil,
            _ answer: @escaping @Sendable (Challenge) -> Task<Credential?>
        ) -> Self {
            Self(preemptive: credential, answer: answer)
        }

        private init(_ credential: Credential, _ moment: Moment) {
            preemptive = moment == .always ? credential : nil
            answer = { challenge in .success(challenge.refused.isEmpty ? credential : nil) }
        }

        private init(preemptive: Credential?, answer: (@Sendable (Challenge) -> Task<Credential?>)?) {
            self.preemptive = preemptive
            self.answer = answer
        }
    }
}

extension URLClient {
    /// What a client shows a server to say who it is. Its description doesn't tell the secret.
    public enum Credential: Sendable, Hashable {
        /// A name and a password: RFC 7617. The name has no colon.
        case basic(user: String, password: String)

        /// A token: RFC 6750.
        case bearer(token: String)

        /// The value for `Authorization`.
        func field() throws(URLClientError) -> String {
            switch self {
            case .basic(let user, let password): try BasicCredential.field(user: user, password: password)
            case .bearer(let token): "Bearer " + token
            }
        }
    }
}

extension URLClient.Credential: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// The kind, and the name of a user.
    public var description: String {
        switch self {
        case .basic(let user, _): "basic(user: \(DisplayText.quoted(user)))"
        case .bearer: "bearer"
        }
    }

    /// The same as ``description``.
    public var debugDescription: String { description }

    /// The same as ``description``, lest `dump` tells the secret.
    public var customMirror: Mirror { Mirror(self, children: ["credential": description]) }
}

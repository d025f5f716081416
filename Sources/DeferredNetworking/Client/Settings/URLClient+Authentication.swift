public import DeferredTask
import Foundation

extension URLClient {
    /// A client's credentials, and the point at which they are sent.
    ///
    /// A credential goes only to the origin that the request names, never to another one after a redirect. A request
    /// that has its own `Authorization` is left alone. Each credential is tried once per request, and at most five are
    /// tried. If all are refused, the `401` is the response; the same goes for a request with a one-shot
    /// `httpBodyStream`, which can't be sent again. A stream fails with
    /// ``URLClientError/Code/unacceptableStatus(code:body:)`` then, also if the status is acceptable: the body has been read
    /// before it was known that it is the result's.
    ///
    /// Client certificates aren't available over URLSession on Linux.
    public struct Authentication: Sendable {
        /// The point at which a credential is sent.
        public enum Moment: Sendable, Hashable {
            /// With every request.
            case always

            /// After a `401`, in a second attempt. A name and a password only if it offers the scheme Basic, or none.
            case challenged
        }

        /// A `401` response, and the credentials that were tried before it.
        public struct Challenge: Sendable {
            /// The response, with its `WWW-Authenticate`.
            public let response: ResponseHead

            /// The credentials that this request has tried and the server has refused, the latest last.
            public let refused: [Credential]
        }

        let preemptive: Credential?
        let answer: (@Sendable (Challenge) -> Task<Credential?>)?

        /// Answers challenges of the scheme Digest, before `answer` is asked.
        var digest: DigestSession?

        var isNone: Bool { answer == nil }

        /// No credentials.
        public static let none = Self(preemptive: nil, answer: nil)

        /// Authenticates with a name and a password.
        public static func basic(user: String, password: String, when moment: Moment = .challenged) -> Self {
            fixed(.basic(user: user, password: password), moment)
        }

        /// Authenticates with a token.
        public static func bearer(_ token: String, when moment: Moment = .always) -> Self {
            fixed(.bearer(token: token), moment)
        }

        /// Authenticates with the proof of a name and a password, which itself is never sent: the scheme Digest, RFC 7616.
        ///
        /// Requests go out without until a server has asked, and then with an answer to its last challenge; one that comes
        /// too late is given again. The hashes SHA-256 and MD5 are supported, and the first is preferred; the protection of
        /// the body (`auth-int`) only if the server offers no other, for bodies in memory.
        public static func digest(user: String, password: String) -> Self {
            Self(preemptive: nil, answer: { _ in .success(nil) }, digest: DigestSession(user: user, password: password))
        }

        /// Answers challenges with a closure, for example with tokens that expire.
        ///
        /// - Parameters:
        ///   - credential: The credential that is sent with every request before any challenge; `nil` for none.
        ///   - answer: Returns a task for the credential of a second attempt; `nil` accepts the `401` as the response.
        ///     A credential that was refused before counts as `nil`. If the task fails, the request fails with the same
        ///     error; if the request is cancelled, so is the task. Called on internal threads; must not block.
        public static func custom(
            preemptive credential: Credential? = nil,
            _ answer: @escaping @Sendable (Challenge) -> Task<Credential?>
        ) -> Self {
            Self(preemptive: credential, answer: answer)
        }

        private static func fixed(_ credential: Credential, _ moment: Moment) -> Self {
            Self(preemptive: moment == .always ? credential : nil) { challenge in
                let isAsked = challenge.refused.isEmpty && credential.isFor(challenge.response)
                return .success(isAsked ? credential : nil)
            }
        }
    }
}

extension URLClient {
    /// A credential by which a client authenticates itself to a server. Its description doesn't contain the secret.
    public enum Credential: Sendable, Hashable {
        /// A name and a password: RFC 7617. The name must not contain a colon.
        case basic(user: String, password: String)

        /// A token: RFC 6750.
        case bearer(token: String)

        /// True unless it is a password, which isn't sent where only schemes are offered that keep it secret.
        fileprivate func isFor(_ challenge: ResponseHead) -> Bool {
            guard case .basic = self else { return true }
            let offered = AuthenticationChallenge.challenges(in: challenge.headers)
            return offered.isEmpty || offered.contains { $0.isOf("Basic") }
        }

        /// Returns the value for `Authorization`.
        func field() throws(URLClientError) -> String {
            switch self {
            case .basic(let user, let password): try BasicCredential.field(user: user, password: password)
            case .bearer(let token): "Bearer " + token
            }
        }
    }
}

extension URLClient.Credential: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// The kind of credential, and the user name if there is one.
    public var description: String {
        switch self {
        case .basic(let user, _): "basic(user: \(DisplayText.quoted(user)))"
        case .bearer: "bearer"
        }
    }

    /// The same as ``description``.
    public var debugDescription: String { description }

    /// The same as ``description``, so that `dump` does not reveal the secret.
    public var customMirror: Mirror { Mirror(self, children: ["credential": description]) }
}

/// The authentication scheme Basic: RFC 7617.
package enum BasicCredential {
    /// Returns the value for `Authorization`.
    package static func field(user: String, password: String) throws(URLClientError) -> String {
        guard !user.contains(":") else {
            throw .invalidRequest(
                reason: "the user name \(DisplayText.quoted(user)) of the credential contains a colon, "
                    + "which separates it from the password; use a name without one"
            )
        }
        guard !DisplayText.hasControls(user + password) else {
            throw .invalidRequest(reason: "the user name or the password contains control characters; remove them")
        }
        return "Basic " + Data("\(user):\(password)".utf8).base64EncodedString()
    }
}

internal import DeferredCore
package import Foundation

/// A name and a password for the scheme Digest, and the nonces of the servers that have asked for them: RFC 7616.
///
/// A server's nonce is used for the requests that follow, so that most of them need no challenge of their own.
package final class DigestSession: Sendable {
    private struct Nonce: Sendable {
        let challenge: DigestChallenge

        /// One for all requests with the server's nonce, so that those of a session have the same key.
        let clientNonce: String
        var count: UInt32 = 0
    }

    private let user: String
    private let password: String
    private let makeClientNonce: @Sendable () -> String
    private let nonces = Lock<[Origin: Nonce]>([:])

    package init(
        user: String,
        password: String,
        clientNonce: @escaping @Sendable () -> String = { String(UInt64.random(in: .min ... .max), radix: 36) }
    ) {
        self.user = user
        self.password = password
        makeClientNonce = clientNonce
    }

    /// Returns the value for `Authorization`, and the nonce in it; nil if the server has not given one yet.
    ///
    /// - Parameter new: The challenge to this request, which it answers whatever others have got meanwhile. If its nonce is
    ///   the one there is, the count of that goes on.
    fileprivate func answer(
        _ new: DigestChallenge?,
        _ method: String,
        _ url: URL,
        _ body: () -> Data?
    ) -> (field: String, nonce: String)? {
        let origin = Origin(of: url)
        let nonce = nonces.withLock { nonces -> Nonce? in
            if let new, nonces[origin]?.challenge.nonce != new.nonce {
                nonces[origin] = Nonce(challenge: new, clientNonce: makeClientNonce())
            }
            // Used so often, it can't be used again.
            if nonces[origin]?.count == .max { nonces[origin] = nil }
            nonces[origin]?.count += 1
            return nonces[origin]
        }
        guard let nonce else { return nil }
        let path = url.path(percentEncoded: true)
        let target = (path.isEmpty ? "/" : path) + (url.query(percentEncoded: true).map { "?" + $0 } ?? "")
        let field = nonce.challenge.field(
            user: user,
            password: password,
            method: method,
            target: target,
            count: nonce.count,
            clientNonce: nonce.clientNonce,
            body: body
        )
        return field.map { ($0, nonce.challenge.nonce) }
    }
}

/// The answers of one request to challenges of the scheme Digest.
package struct DigestAnswers: Sendable {
    private let session: DigestSession

    /// The challenge that is to be answered next.
    private var new: DigestChallenge?

    /// The nonce that was sent last.
    private var sent: String?

    /// The number of challenges that were answered.
    private var count = 0

    package init(_ session: DigestSession) { self.session = session }

    /// Returns the value for `Authorization`; nil if no nonce is known, or if the server wants the body to be covered, and
    /// it isn't in memory.
    ///
    /// - Parameter body: The bytes of the body; nil if they aren't in memory.
    package mutating func field(method: String, url: URL, body: () -> Data?) -> String? {
        let answer = session.answer(new.take(), method, url, body)
        sent = answer?.nonce
        return answer?.field
    }

    /// Handles a 401, and returns true if another answer may help: the first one in this request, or one with a new nonce
    /// if only the old one was too old.
    ///
    /// - Parameter body: As for ``field(method:url:body:)``.
    package mutating func mayAnswer(
        _ challenges: [AuthenticationChallenge],
        body: () -> Data?
    ) -> Bool {
        guard let challenge = DigestChallenge.best(of: challenges), challenge.nonce != sent,
            count == 0 || challenge.isStale, count < 3, challenge.protection != .integrity || body() != nil
        else { return false }
        count += 1
        new = challenge
        return true
    }
}

extension DigestSession: CustomReflectable {
    /// No children, so that `dump` doesn't reveal the password.
    package var customMirror: Mirror { Mirror(self, children: [:]) }
}

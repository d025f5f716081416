import Foundation

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// Selects the challenges that a transfer answers itself.
///
/// swift-corelibs-foundation supports only HTTP Basic, hangs with default handling, and traps when a task is cancelled
/// while a credential arrives: https://github.com/swiftlang/swift-corelibs-foundation/issues/5456 (fixed in 6.3.2 by
/// #5458). It delivers the 401 and its body first, so a transfer can record the challenge and send the credential
/// itself. On Darwin, challenges come first and also concern TLS; there, the platform receives the answer. Tests:
/// `URLSessionTests`, "a 401 without credentials is delivered with its body" and "A session's own delegate decides on
/// redirects and challenges".
enum ChallengeHandling {
    static var areRecorded: Bool { SessionPlatform.isCorelibs }

    /// Returns whether a challenge is about the connection, not about the one request that waits for it.
    static func isAboutConnection(_ challenge: URLAuthenticationChallenge) -> Bool {
        #if canImport(FoundationNetworking)
        false
        #else
        [
            NSURLAuthenticationMethodServerTrust, NSURLAuthenticationMethodClientCertificate,
            NSURLAuthenticationMethodNTLM, NSURLAuthenticationMethodNegotiate,
        ].contains(challenge.protectionSpace.authenticationMethod)
        #endif
    }

    /// Returns the code of the error with which a transfer fails when a challenge was refused.
    static func refusalCode(of challenge: URLAuthenticationChallenge) -> URLError.Code {
        #if !canImport(FoundationNetworking)
        if challenge.protectionSpace.authenticationMethod == NSURLAuthenticationMethodServerTrust {
            return .serverCertificateUntrusted
        }
        #endif
        return .userCancelledAuthentication
    }

    /// Returns `challenge` as it would look if its task had seen the previous failures.
    static func challenge(_ challenge: URLAuthenticationChallenge, failures: Int) -> URLAuthenticationChallenge {
        guard failures > 0, let sender = challenge.sender else { return challenge }
        return URLAuthenticationChallenge(
            protectionSpace: challenge.protectionSpace,
            proposedCredential: challenge.proposedCredential,
            previousFailureCount: failures,
            failureResponse: challenge.failureResponse,
            error: challenge.error,
            sender: sender
        )
    }
}

internal import DeferredNetworking
internal import Foundation

/// Adds the proof of a name and a password to requests, when the server asks for it: the scheme Digest, RFC 7616.
///
/// ```swift
/// let chain = ApplyEnvironment(environment) --> DigestAuthentication(user: "me", password: password) --> URLSessionLoader()
/// ```
///
/// The first request to a server goes out without, gets a 401, and is loaded once more with the answer to its challenge.
/// The requests that follow use the same nonce of the server, until that is too old: then one more is loaded twice. The
/// hashes SHA-256 and MD5 are supported, and the first is preferred; the protection of the body (`auth-int`) only if the
/// server offers no other, for bodies in memory. If the server refuses the answer, its 401 is the result, also for a body
/// that can be sent only once.
///
/// The answer depends on the method and the URL. A loader that changes one of them belongs before this one: so does an
/// ``ApplyEnvironment``, after which requests for its server fail with ``HTTPError/Code/cannotConnect`` otherwise, and a
/// ``FollowRedirects``, since the client's own redirects carry on an answer for another URL.
///
/// The credential is for the same requests as that of a ``BasicAuthentication``. Copies share the nonces.
///
/// **Thread safety:** can be used from any thread. **Cancelling** a task cancels the request under way.
public struct DigestAuthentication: HTTPLink, ArrangedLink {
    private let session: DigestSession
    private let origins: CredentialOrigins

    /// Creates the loader.
    ///
    /// - Parameters:
    ///   - user: Any text.
    ///   - password: Any text. Both are used in UTF-8. The password itself is never sent.
    ///   - hosts: The hosts that get the credential, as for ``BasicAuthentication``.
    public init(user: String, password: String, hosts: Set<String> = []) {
        self.init(DigestSession(user: user, password: password), hosts: hosts)
    }

    init(_ session: DigestSession, hosts: Set<String>) {
        self.session = session
        origins = CredentialOrigins(hosts)
    }

    /// Passes the task on, and once more if the server asks for an answer.
    public func load(_ task: HTTPTask, next: any HTTPLoader) {
        guard origins.claim(task, orPassTo: next) else { return }
        guard task.request.host != nil else {
            let reason =
                "DigestAuthentication signs the URL, which is complete after ApplyEnvironment; put that before it"
            return EndOfChain(reason: reason).load(task)
        }
        send(task, DigestAnswers(session), to: next)
    }

    private func send(_ task: HTTPTask, _ answers: DigestAnswers, to next: any HTTPLoader) {
        var (request, answers) = (task.request, answers)
        // Without a URL, it is refused at the end of the chain.
        guard let url = request.url else { return task.pass(to: next) }
        let body = request.body
        let field = answers.field(method: request.method.rawValue, url: url, body: { body.bytesInMemory })
        request.headers["Authorization"] = field
        task.send(request, to: next) { [self, answers] result in
            var answers = answers
            guard let response = result.arrived, response.status == .unauthorized, !body.isOneShot,
                Origin(of: response.url ?? url) == Origin(of: url),
                answers.mayAnswer(response.challenges, body: { body.bytesInMemory })
            else {
                task.complete(with: result)
                return
            }
            response.stream?.cancel()
            task.execution.later { [answers] in send(task, answers, to: next) }
        }
    }
}

extension DigestAuthentication: CustomReflectable {
    /// No children, so that the password is not revealed.
    public var customMirror: Mirror { Mirror(self, children: []) }
}

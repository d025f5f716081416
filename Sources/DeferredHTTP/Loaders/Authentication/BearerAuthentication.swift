public import DeferredCore
public import DeferredTask

/// Adds a token to requests, and fetches a new one when the server refuses it: RFC 6750.
///
/// ```swift
/// let chain = BearerAuthentication { _ in signIn().map(\.accessToken) } --> URLSessionLoader()
/// ```
///
/// However many requests get a 401, one refresh serves them all: requests that come meanwhile wait for it, and then each is
/// loaded once more. If the server refuses that, too, its response is the result, so that there is no endless loop. If the
/// refresh fails, all that wait fail with ``HTTPError/Code/authenticationFailed`` and its error as the cause, and the next
/// request begins another refresh.
///
/// A task that is cancelled while it waits completes with ``HTTPError/Code/cancelled``. The refresh goes on, for it may have
/// used up the credential that it was made with. Copies share the token; ``reset()`` forgets it.
public struct BearerAuthentication: HTTPLink {
    /// The next loader, set by `-->`.
    public var next: (any HTTPLoader)?
    private let tokens: TokenStore

    /// Creates the loader.
    ///
    /// - Parameters:
    ///   - token: What to begin with; `nil` to fetch one for the first request.
    ///   - refresh: Fetches a token; it is given the one that was refused, `nil` if there was none. It is called on internal
    ///     threads and must not block. If it uses the same chain, its request has to set ``HTTPRequest/isAuthenticated`` to
    ///     false, or it waits for itself; and, where a ``Throttle`` comes before this loader, ``HTTPRequest/isThrottled``, or
    ///     those that wait for it may leave it no place. Kept as long as the loader.
    public init(token: String? = nil, refresh: @escaping @Sendable (_ refused: String?) -> Task<String>) {
        tokens = TokenStore(token, refresh: refresh)
    }

    /// Passes the task on with a token, as soon as there is one.
    public func load(_ task: HTTPTask) {
        guard task.request.wantsCredential else { return task.pass(to: next) }
        tokens.get(for: task, refused: nil) { first in
            attempt(task, first) { refused in
                tokens.get(for: task, refused: first) { second in
                    // What comes now is the result: a fresh token that is refused will not get better.
                    attempt(task, second) { task.complete(with: .success($0)) }
                }
            }
        }
    }

    /// Forgets the token, and resets the other loaders.
    public func reset() -> Future<Void> {
        tokens.reset()
        return next?.reset() ?? Future(value: ())
    }

    /// Loads with a token; completes the task unless the server refuses it.
    private func attempt(
        _ task: HTTPTask,
        _ token: BearerToken,
        ifRefused: @escaping @Sendable (HTTPResponse) -> Void
    ) {
        var request = task.request
        request.headers["Authorization"] = "Bearer " + token.value
        task.pass(request, to: next) { result in
            if case .success(let response) = result, response.status == .unauthorized {
                ifRefused(response)
            } else {
                task.complete(with: result)
            }
        }
    }
}

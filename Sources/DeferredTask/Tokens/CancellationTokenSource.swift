public import DeferredCore

/// Creates cancellation tokens and cancels them.
///
/// Use it when one event stops many operations that do not derive from each other: a view that disappears, a server
/// that shuts down, a deadline for a whole job.
///
/// ```swift
/// let source = CancellationTokenSource()
/// let image = session.beginDataTask(with: imageURL).cancelled(by: source.token)
/// let text = session.beginDataTask(with: textURL).cancelled(by: source.token)
/// source.cancel()  // stops both
/// ```
///
/// Registering, taking back and cancelling take no lock. When the source is released without having been cancelled, its
/// handlers are freed, and its tokens can never be cancelled.
public final class CancellationTokenSource: Cancellable {
    @usableFromInline let state = FutureStorage<CancellationToken.Ending>()
    private let links: [Registration]

    /// Creates a source that only ``cancel()`` cancels.
    public init() {
        links = []
    }

    /// Creates a source that is also cancelled with the first of `tokens`.
    ///
    /// The tokens' sources keep nothing of this one once it is released.
    public init(linkedTo tokens: CancellationToken...) {
        links = tokens.map { [state] token in
            token.register { _ = state.fillNewestFirst(with: .cancelled) }
        }
    }

    deinit {
        for link in links { link.cancel() }
        state.fillDroppingHandlers(with: .abandoned)
    }

    /// The token to hand to operations that should stop when the source is cancelled.
    @inlinable
    public var token: CancellationToken { CancellationToken(state) }

    /// A Boolean value that indicates whether this source was cancelled, by ``cancel()`` or through a linked token.
    public var isCancelled: Bool { token.isCancelled }

    /// Calls the handlers of all tokens, newest first, on this thread, before it returns. Only the first call has an
    /// effect.
    public func cancel() {
        _ = state.fillNewestFirst(with: .cancelled)
    }

    /// Cancels after `duration`, unless the source is cancelled before. Does not keep the source alive.
    ///
    /// - Parameters:
    ///   - duration: From now. Zero or less cancels as soon as possible, on another thread; 2³² seconds (136 years) or
    ///     more never do.
    ///   - clock: The clock that measures `duration`.
    /// - Returns: A registration that takes the timer back, so that it never cancels. Ignore it if that is never
    ///   needed: when the source is cancelled otherwise, or released, the timer is freed at once.
    @discardableResult
    public func cancel<C: Clock>(after duration: C.Duration, clock: C = .continuous) -> Registration {
        ClockTimer(after: duration, clock: clock, unless: state) { [weak self] in self?.cancel() }.registration
    }
}

public import DeferredCore

/// The end of a cancellation that somebody pulls; the ``CancellationToken``s it gives out are the other.
///
/// Reach for it when one event stops many operations that do not derive from each other: a view that goes, a server that
/// shuts down, a deadline for a whole job.
///
/// ```swift
/// let source = CancellationTokenSource()
/// let image = session.beginDataTask(with: imageURL).cancelled(by: source.token)
/// let text = session.beginDataTask(with: textURL).cancelled(by: source.token)
/// source.cancel()  // stops both
/// ```
///
/// Registering, taking back and cancelling take no lock. When the source goes without having cancelled, its handlers are
/// freed, and its tokens can never be cancelled.
public final class CancellationTokenSource: Cancellable {
    @usableFromInline let state: FutureStorage<CancellationToken.Ending>
    private let links: [Registration]

    /// Creates a source that nothing but ``cancel()`` cancels.
    public init() {
        state = FutureStorage()
        links = []
    }

    /// Creates a source that is cancelled with the first of `tokens`, too.
    ///
    /// The tokens' sources keep nothing of this one once it is gone.
    public init(linkedTo tokens: CancellationToken...) {
        let state = FutureStorage<CancellationToken.Ending>()
        self.state = state
        links = tokens.map { token in
            token.register { _ = state.fillNewestFirst(with: .cancelled) }
        }
    }

    deinit {
        for link in links { link.cancel() }
        state.fillDroppingHandlers(with: .abandoned)
    }

    /// What to hand to those who can be cancelled.
    @inlinable
    public var token: CancellationToken { CancellationToken(state) }

    /// Whether ``cancel()`` was called, here or where this source is linked to.
    public var isCancelled: Bool { token.isCancelled }

    /// Cancels: calls the handlers of all tokens, newest first, on this thread, before it returns. Once; without a lock.
    public func cancel() {
        _ = state.fillNewestFirst(with: .cancelled)
    }

    /// Cancels after `duration`, unless it happens before. Does not keep the source alive.
    ///
    /// - Parameters:
    ///   - duration: From now. Zero or less cancels as soon as possible, on another thread; 2³² seconds (136 years) or more
    ///     never do.
    ///   - clock: Measures the time.
    /// - Returns: What takes the timer back, so that it never cancels. Ignore it if that is never necessary: when the source
    ///   is cancelled otherwise, or goes, the timer goes at once.
    @discardableResult
    public func cancel<C: Clock>(after duration: C.Duration, clock: C = .continuous) -> Registration {
        ClockTimer(after: duration, clock: clock, unless: state) { [weak self] in self?.cancel() }.registration
    }
}

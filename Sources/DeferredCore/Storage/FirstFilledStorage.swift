internal import Synchronization

/// The result of `firstFilled`: filled by the first of several inputs.
///
/// Two parties finish: the input that wins, and the call that registers with the inputs. The second of them cancels the
/// losers' handlers, so that none is left behind if an input wins while others are still being added.
///
/// SAFETY: `registrations` belongs to the registering call until both parties have finished, and then to the second.
@usableFromInline
final class FirstFilledStorage<Value: Sendable>: FutureStorage<Value>, @unchecked Sendable {
    @exclusivity(unchecked)
    @usableFromInline var registrations: [Registration] = []
    private let isOneDone = AtomicWord(0)

    @usableFromInline
    init() {
        super.init(.permanent())
    }

    /// Adds `future` to the inputs, unless there is a winner; false if no more inputs are needed.
    @inlinable
    func add<Input: FutureProtocol<Value>>(_ future: Input) -> Bool {
        if word.isFilled { return false }
        if Input.self == Future<Value>.self || Input.self == Deferred<Value>.self {
            return add(to: future.future.storage)
        }
        if let value = future.peek() {
            win(with: value)
            return false
        }
        // Only its `upon` returns a registration that can cancel the handler.
        registrations.append(future.upon(.immediate) { self.win(with: $0) })
        return true
    }

    @inlinable
    func add(to input: FutureStorage<Value>) -> Bool {
        if !input.word.isFilled {
            let candidate = Candidate(for: self, in: input)
            if input.add(candidate) {
                registrations.append(Registration(candidate))
                return true
            }
        }
        win(with: input.value)
        return false
    }

    /// Ends the adding of inputs.
    @inlinable
    func endAdding() {
        removeLosersIfSecond()
    }

    @inlinable
    func win(with value: Value) {
        var drain = Drain()
        win(with: value, &drain)
        drain.runNested()
    }

    /// Fills with `value`, unless another input came first. The losers' handlers are cancelled before the value is
    /// visible, unless inputs are still being added.
    @inlinable
    func win(with value: Value, _ drain: inout Drain) {
        guard word.claim() else { return }
        removeLosersIfSecond()
        pass(value, to: &drain)
    }

    @usableFromInline
    func removeLosersIfSecond() {
        // Releases the registrations to the winner; acquires them from the call that made them.
        guard isOneDone.exchange(1, ordering: .acquiringAndReleasing) == 1 else { return }
        let registrations = registrations
        self.registrations = []
        for registration in registrations { registration.cancel() }
    }
}

/// The handler that waits for one input of a ``FirstFilledStorage``.
///
/// SAFETY: `contest` belongs to the winner of `membership`.
@usableFromInline
final class Candidate<Value: Sendable>: Receiver, @unchecked Sendable {
    @exclusivity(unchecked)
    @usableFromInline var contest: FirstFilledStorage<Value>?

    @inlinable
    init(for contest: FirstFilledStorage<Value>, in input: FutureStorage<Value>) {
        self.contest = contest
        super.init(.waiting(for: input)) { node, upstream, drain in
            let candidate = unsafeDowncast(node, to: Candidate.self)
            guard candidate.membership.take() else { return .done }
            let contest = candidate.contest!
            candidate.contest = nil
            contest.win(with: unsafeDowncast(upstream, to: FutureStorage<Value>.self).value, &drain)
            return .done
        }
    }

    @usableFromInline
    override func dismiss() {
        contest = nil
    }
}

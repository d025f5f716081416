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
        let (input, registration) = future.observed
        if let registration { registrations.append(registration) }
        if !input.word.isFilled {
            let candidate = CombinedInput(.waiting(for: input), of: self)
            if input.add(candidate) {
                registrations.append(Registration(candidate))
                return true
            }
        }
        var drain = Drain()
        win(with: input.value, &drain)
        drain.runNested()
        return false
    }

    @usableFromInline
    override func run(_ upstream: FutureNode, _ drain: inout Drain) -> Delivered {
        win(with: unsafeDowncast(upstream, to: FutureStorage<Value>.self).value, &drain)
        return .done
    }

    /// Fills with `value`, unless another input came first. The losers' handlers are cancelled before the value is
    /// visible, unless inputs are still being added.
    @inlinable
    func win(with value: Value, _ drain: inout Drain) {
        guard word.claim() else { return }
        removeLosersIfSecond()
        pass(value, to: &drain)
    }

    /// Notes that one of the two parties has finished: the one that adds inputs, or the winner.
    @usableFromInline
    func removeLosersIfSecond() {
        // Releases the registrations to the winner; acquires them from the call that made them.
        let wasOneDone = isOneDone.update { $0.bitwiseOr(1, ordering: .acquiringAndReleasing) }.oldValue
        guard wasOneDone == 1 else { return }
        let registrations = registrations
        self.registrations = []
        for registration in registrations { registration.cancel() }
    }
}

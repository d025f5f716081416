/// Collects the values of the handlers of all subjects, so that nothing can be optimised away.
///
/// SAFETY: each is used from one thread at a time.
final class Sink: @unchecked Sendable {
    @exclusivity(unchecked)
    var sum = 0

    @inline(__always)
    func add(_ value: Int) { sum &+= value }
}

/// Uses `value` in a way that the optimiser can't see through.
@_optimize(none)
@inline(never)
func blackHole<Value>(_ value: Value) {}

/// The closure of every `map`.
@Sendable func increment(_ value: Int) -> Int { value &+ 1 }

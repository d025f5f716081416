internal import DeferredHTTP
internal import DeferredNetworking

/// The origins whose stored responses are being removed, which may take as long as reading all heads of a folder: until
/// then, what was asked for before is not used. A pure state machine.
struct ClearedOrigins: Sendable {
    private struct Clearing: Sendable {
        /// Of any resource of the origin.
        let key: CacheKey
        var time: CacheInstant
        var isAskedAgain = false
    }

    private var clearings: [Clearing] = []

    /// Begins to clear the origin of a key.
    ///
    /// - Returns: False if that is under way already. Then its end asks for another round.
    mutating func begin(_ key: CacheKey, at time: CacheInstant) -> Bool {
        guard let index = index(of: key) else {
            clearings.append(Clearing(key: key, time: time))
            return true
        }
        (clearings[index].time, clearings[index].isAskedAgain) = (time, true)
        return false
    }

    /// Ends a round; returns true if there is to be another one.
    mutating func end(_ key: CacheKey) -> Bool {
        guard let index = index(of: key) else { return false }
        if clearings[index].isAskedAgain {
            clearings[index].isAskedAgain = false
            return true
        }
        clearings.remove(at: index)
        return false
    }

    /// Returns the time until which what was asked for is not to be used; nil if the origin is not being cleared.
    func time(of key: CacheKey) -> CacheInstant? { index(of: key).map { clearings[$0].time } }

    private func index(of key: CacheKey) -> Int? { clearings.firstIndex { $0.key.hasOrigin(of: key) } }
}

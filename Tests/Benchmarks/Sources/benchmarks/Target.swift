import Tables

/// A performance target of an operation.
struct Target {
    let operation: Operation
    let bound: Bound

    enum Bound {
        /// At least this many times faster than a peer.
        case faster(than: Subject, times: Double)
        /// At most this many times slower than a subject.
        case slower(than: Subject, times: Double)
    }

    static let all = [
        Target(operation: .createUponFill, bound: .faster(than: .eventLoopFuture, times: 2.5)),
        Target(operation: .createUponFill, bound: .slower(than: .floor, times: 1.5)),
        Target(operation: .mapChain, bound: .faster(than: .eventLoopFuture, times: 2)),
        Target(operation: .mapChain, bound: .slower(than: .floor, times: 1.5)),
        Target(operation: .allFilled, bound: .faster(than: .eventLoopFuture, times: 3)),
        Target(operation: .flatMapLoopFilled, bound: .faster(than: .eventLoopFuture, times: 2)),
        Target(operation: .flatMapLoopPending, bound: .faster(than: .eventLoopFuture, times: 2)),
        Target(operation: .awaitUnfilled, bound: .slower(than: .concurrency, times: 1.2)),
        Target(operation: .taskCreateFill, bound: .slower(than: .future, times: 4)),
        Target(operation: .taskMapChain, bound: .slower(than: .future, times: 2.2)),
        Target(operation: .taskValue, bound: .slower(than: .concurrency, times: 1.4)),
        Target(operation: .taskGet, bound: .slower(than: .concurrency, times: 1.6)),
        Target(operation: .cancelWide, bound: .slower(than: .concurrency, times: 2.5)),
        Target(operation: .tokenRegister, bound: .slower(than: .mutexPerSource, times: 0.8)),
        // 100 ns where locking and unlocking takes 20.
        Target(operation: .tokenRegister, bound: .slower(than: .bareMutex, times: 5)),
    ]

    /// Returns the operation, the target, the measured ratio, and by how much the target was missed.
    func row(_ medians: Medians) -> [String]? {
        guard let times = medians[operation], let ours = times[.ours] else { return nil }
        switch bound {
        case .faster(let peer, let goal):
            guard let other = times[peer] else { return nil }
            let ratio = other / ours
            return [
                operation.rawValue, "≥ \(goal.short) × faster than \(peer.rawValue)", ratio.short,
                verdict(isMet: ratio >= goal, missedBy: goal / ratio),
            ]
        case .slower(let peer, let goal):
            guard let other = times[peer] else { return nil }
            let ratio = ours / other
            return [
                operation.rawValue, "≤ \(goal.short) × \(peer.rawValue)", ratio.short,
                verdict(isMet: ratio <= goal, missedBy: ratio / goal),
            ]
        }
    }
}

func verdict(isMet: Bool, missedBy factor: Double) -> String {
    isMet ? "met" : "missed by \(((factor - 1) * 100).short) %"
}

import DeferredCore

final class PendingDeferreds: Pending {
    private var futures: [Deferred<Int>] = []
    private let sink = Sink()

    init(room: Int) {
        futures.reserveCapacity(room)
    }

    func add(futures count: Int, handlers: Int) {
        for _ in 0..<count {
            let future = Deferred<Int>()
            for _ in 0..<handlers { future.upon(.immediate) { [sink] in sink.sum &+= $0 } }
            futures.append(future)
        }
    }

    func addHandlers(_ count: Int) {
        for _ in 0..<count { futures[0].upon(.immediate) { [sink] in sink.sum &+= $0 } }
    }
}

import OpenCombine

final class PendingOpenCombineFutures: Pending {
    private var futures: [Future<Int, Never>] = []
    private var promises: [Future<Int, Never>.Promise] = []
    private var subscriptions: [AnyCancellable] = []
    private let sink = Sink()

    init(room: Int) {
        futures.reserveCapacity(room)
        promises.reserveCapacity(room)
        subscriptions.reserveCapacity(room + 1)
    }

    func add(futures count: Int, handlers: Int) {
        for _ in 0..<count {
            let future = Future<Int, Never> { self.promises.append($0) }
            for _ in 0..<handlers { subscriptions.append(future.sink { [sink] in sink.sum &+= $0 }) }
            futures.append(future)
        }
    }

    func addHandlers(_ count: Int) {
        for _ in 0..<count { subscriptions.append(futures[0].sink { [sink] in sink.sum &+= $0 }) }
    }
}

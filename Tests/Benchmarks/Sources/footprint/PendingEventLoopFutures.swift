import NIOCore
import NIOEmbedded

final class PendingEventLoopFutures: Pending {
    private var promises: [EventLoopPromise<Int>] = []
    private let loop = EmbeddedEventLoop()
    private let sink = Sink()

    init(room: Int) {
        promises.reserveCapacity(room)
    }

    func add(futures count: Int, handlers: Int) {
        for _ in 0..<count {
            let promise = loop.makePromise(of: Int.self)
            for _ in 0..<handlers { promise.futureResult.whenSuccess { [sink] in sink.sum &+= $0 } }
            promises.append(promise)
        }
    }

    func addHandlers(_ count: Int) {
        for _ in 0..<count { promises[0].futureResult.whenSuccess { [sink] in sink.sum &+= $0 } }
    }
}

import Foundation
import Synchronization

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

private func configuration(connections: Int) -> URLSessionConfiguration {
    let configuration = URLSessionConfiguration.ephemeral
    configuration.httpMaximumConnectionsPerHost = connections
    return configuration
}

/// A bare session, with completion handlers.
struct HandlerEngine: Engine {
    private let session: URLSession

    init(connections: Int) {
        session = URLSession(configuration: configuration(connections: connections))
    }

    func run(_ requests: Requests) async {
        await requests.run { url, end in
            session.dataTask(with: url) { data, _, _ in end(data?.count == 1_024) }.resume()
        }
    }
}

/// A bare session, with Swift's concurrency.
struct AsyncEngine: Engine {
    private let session: URLSession

    init(connections: Int) {
        session = URLSession(configuration: configuration(connections: connections))
    }

    func run(_ requests: Requests) async {
        await requests.run { url in
            (try? await session.data(for: URLRequest(url: url)))?.0.count == 1_024
        }
    }
}

/// A bare session, with a delegate that gathers the response of each task.
struct DelegateEngine: Engine {
    private let session: URLSession
    private let delegate = Delegate()

    init(connections: Int) {
        session = URLSession(
            configuration: configuration(connections: connections),
            delegate: delegate,
            delegateQueue: nil
        )
    }

    func run(_ requests: Requests) async {
        await requests.run { url, end in
            let task = session.dataTask(with: url)
            delegate.add(task, .init(end: { end($0?.count == 1_024) }))
            task.resume()
        }
    }

    func stream(_ url: URL) async throws -> Int? {
        let count = Count()
        await withUnsafeContinuation { (end: UnsafeContinuation<Void, Never>) in
            let task = session.dataTask(with: url)
            delegate.add(task, .init(receive: { count.add($0.count) }, end: { _ in end.resume() }))
            task.resume()
        }
        return count.value
    }

    private final class Count: Sendable {
        private let sum = Atomic(0)

        var value: Int { sum.load(ordering: .relaxed) }

        func add(_ count: Int) { sum.wrappingAdd(count, ordering: .relaxed) }
    }

    private final class Delegate: NSObject, URLSessionDataDelegate, Sendable {
        struct Transfer {
            var data = Data()
            /// Receives the pieces, which are then not added to `data`.
            var receive: (@Sendable (Data) -> Void)?
            var end: @Sendable (Data?) -> Void
        }

        private let transfers = Mutex<[Int: Transfer]>([:])

        func add(_ task: URLSessionTask, _ transfer: sending Transfer) {
            let transfer = transfer
            transfers.withLock { $0[task.taskIdentifier] = transfer }
        }

        func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) {
            let receive = transfers.withLock { transfers in
                let receive = transfers[dataTask.taskIdentifier]?.receive
                if receive == nil { transfers[dataTask.taskIdentifier]?.data.append(data) }
                return receive
            }
            receive?(data)
        }

        func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
            let transfer = transfers.withLock { $0.removeValue(forKey: task.taskIdentifier) }
            transfer?.end(error == nil ? transfer?.data : nil)
        }
    }
}

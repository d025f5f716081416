internal import DeferredCore
import Foundation

/// The running transfers of one session, by the identifiers of their current tasks.
final class TransferRegistry: Sendable {
    private let transfers = Lock<[Int: Transfer]>([:])

    var count: Int { transfers.withLock { $0.count } }

    func insert(_ transfer: Transfer, task: Int) {
        transfers.withLock { $0[task] = transfer }
    }

    subscript(task: Int) -> Transfer? {
        transfers.withLock { $0[task] }
    }

    func remove(task: Int) -> Transfer? {
        transfers.withLock { $0.removeValue(forKey: task) }
    }

    func removeAll() -> [Transfer] {
        transfers.withLock { transfers in
            defer { transfers = [:] }
            return Array(transfers.values)
        }
    }
}

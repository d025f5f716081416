internal import DeferredCore

/// The transfers of one session's tasks, by the tasks' identifiers.
final class TaskRegistry: Sendable {
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

    func removeAll() -> [(task: Int, transfer: Transfer)] {
        transfers.withLock { transfers in
            defer { transfers = [:] }
            return transfers.map { ($0, $1) }
        }
    }
}

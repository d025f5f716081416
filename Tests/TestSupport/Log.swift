import Synchronization

/// What happened, in order.
public final class Log<Entry: Sendable>: Sendable {
    private let storage = Mutex<[Entry]>([])

    public init() {}

    public var entries: [Entry] { storage.withLock { $0 } }

    public func add(_ entry: Entry) { storage.withLock { $0.append(entry) } }
}

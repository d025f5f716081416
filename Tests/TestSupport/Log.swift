import DeferredCore

/// A list of events in the order in which they happened.
package final class Log<Entry: Sendable>: Sendable {
    private let storage = Lock<[Entry]>([])

    package init() {}

    package var entries: [Entry] { storage.withLock { $0 } }

    package func add(_ entry: Entry) { storage.withLock { $0.append(entry) } }
}

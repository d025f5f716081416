import Deferred

/// Values that are waited for one by one, in order.
@MainActor
final class AsyncQueue<Element: Sendable> {
    private let continuation: AsyncStream<Element>.Continuation
    private var iterator: AsyncStream<Element>.Iterator

    init() {
        let (stream, continuation) = AsyncStream<Element>.makeStream()
        self.continuation = continuation
        iterator = stream.makeAsyncIterator()
    }

    func add(_ element: Element) {
        continuation.yield(element)
    }

    func next() async -> Element {
        var iterator = iterator
        guard let element = await iterator.next(isolation: #isolation) else {
            preconditionFailure("the queue ended; it never does")
        }
        return element
    }
}

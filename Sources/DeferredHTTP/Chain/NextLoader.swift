/// The next loader of a link, unwrapped: an optional of an existential type is copied whenever it is called.
final class NextLoader: Sendable {
    let loader: any HTTPLoader
    let isMissing: Bool

    init(_ loader: (any HTTPLoader)? = nil) {
        self.loader = loader ?? EndOfChain()
        isMissing = loader == nil
    }

    private struct EndOfChain: HTTPLoader {
        func load(_ task: HTTPTask) { task.continuation(isLast: true)?.load(task) }
    }
}

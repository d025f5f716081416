/// The executions that were passed on for another one and have not completed, in order.
struct HTTPParts: Sendable {
    /// Mostly there is only one, which needs no array.
    private var first: HTTPExecution?
    private var others: [HTTPExecution] = []

    mutating func add(_ part: HTTPExecution) {
        if first == nil, others.isEmpty { first = part } else { others.append(part) }
    }

    /// Removes a part, to be released by the caller; returns `nil` if it is not here.
    mutating func remove(_ part: HTTPExecution) -> HTTPExecution? {
        if first === part { return first.take() }
        return others.firstIndex { $0 === part }.map { others.remove(at: $0) }
    }

    /// Removes all parts and returns them.
    mutating func take() -> HTTPParts {
        defer { self = HTTPParts() }
        return self
    }

    /// Cancels the parts, the newest first.
    func cancel() {
        for part in others.reversed() { part.cancel() }
        first?.cancel()
    }
}

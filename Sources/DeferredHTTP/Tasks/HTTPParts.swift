/// Work begun for an execution, which is not needed any more when that is cancelled or completed.
protocol HTTPPart: AnyObject, Sendable {
    func cancel(for whole: HTTPExecution)
}

/// The parts of an execution that have not completed, in order.
struct HTTPParts: Sendable {
    /// Mostly there is only one, which needs no array.
    private var first: (any HTTPPart)?
    private var others: [any HTTPPart] = []

    mutating func add(_ part: any HTTPPart) {
        if first == nil, others.isEmpty { first = part } else { others.append(part) }
    }

    /// Removes a part, to be released by the caller; returns `nil` if it is not here.
    mutating func remove(_ part: any HTTPPart) -> (any HTTPPart)? {
        if first === part { return first.take() }
        return others.firstIndex { $0 === part }.map { others.remove(at: $0) }
    }

    /// Removes all parts and returns them.
    mutating func take() -> HTTPParts {
        defer { self = HTTPParts() }
        return self
    }

    /// Cancels the parts, the newest first.
    func cancel(for whole: HTTPExecution) {
        for part in others.reversed() { part.cancel(for: whole) }
        first?.cancel(for: whole)
    }
}

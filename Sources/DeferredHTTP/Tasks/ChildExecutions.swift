/// Work begun for an execution, which is not needed any more when that is cancelled or completed.
protocol ChildExecution: AnyObject, Sendable {
    func cancel(for parent: HTTPExecution)
}

/// The children of an execution that have not completed, in order.
enum ChildExecutions: Sendable {
    case none
    /// Mostly there is only one, which needs no array.
    case one(any ChildExecution)
    case several([any ChildExecution])

    mutating func add(_ child: any ChildExecution) {
        switch self {
        case .none: self = .one(child)
        case .one(let first): self = .several([first, child])
        case .several(var children):
            self = .none
            children.append(child)
            self = .several(children)
        }
    }

    /// Removes a child, to be released by the caller; returns `nil` if it is not here.
    mutating func remove(_ child: any ChildExecution) -> (any ChildExecution)? {
        switch self {
        case .none: return nil
        case .one(let first):
            guard first === child else { return nil }
            self = .none
            return first
        case .several(var children):
            self = .none
            defer { self = .several(children) }
            return children.firstIndex { $0 === child }.map { children.remove(at: $0) }
        }
    }

    /// Removes all children and returns them.
    mutating func take() -> ChildExecutions {
        defer { self = .none }
        return self
    }

    /// Cancels the children, the newest first.
    func cancel(for parent: HTTPExecution) {
        switch self {
        case .none: break
        case .one(let child): child.cancel(for: parent)
        case .several(let children): for child in children.reversed() { child.cancel(for: parent) }
        }
    }
}

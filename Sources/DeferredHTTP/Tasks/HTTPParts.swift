/// Work begun for an execution, which is not needed any more when that is cancelled or completed.
protocol HTTPPart: AnyObject, Sendable {
    func cancel(for whole: HTTPExecution)
}

/// The parts of an execution that have not completed, in order.
enum HTTPParts: Sendable {
    case none
    /// Mostly there is only one, which needs no array.
    case one(any HTTPPart)
    case several([any HTTPPart])

    mutating func add(_ part: any HTTPPart) {
        switch self {
        case .none: self = .one(part)
        case .one(let first): self = .several([first, part])
        case .several(var parts):
            self = .none
            parts.append(part)
            self = .several(parts)
        }
    }

    /// Removes a part, to be released by the caller; returns `nil` if it is not here.
    mutating func remove(_ part: any HTTPPart) -> (any HTTPPart)? {
        switch self {
        case .none: return nil
        case .one(let first):
            guard first === part else { return nil }
            self = .none
            return first
        case .several(var parts):
            self = .none
            defer { self = .several(parts) }
            return parts.firstIndex { $0 === part }.map { parts.remove(at: $0) }
        }
    }

    /// Removes all parts and returns them.
    mutating func take() -> HTTPParts {
        defer { self = .none }
        return self
    }

    /// Cancels the parts, the newest first.
    func cancel(for whole: HTTPExecution) {
        switch self {
        case .none: break
        case .one(let part): part.cancel(for: whole)
        case .several(let parts): for part in parts.reversed() { part.cancel(for: whole) }
        }
    }
}

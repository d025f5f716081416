internal import DeferredTask

/// How many bytes of a body have gone by.
package struct BodyProgress: Sendable, Equatable {
    package enum Direction: Sendable {
        case sent, received
    }

    package let direction: Direction

    /// Bytes so far; those received count after decoding.
    package let completed: Int64

    /// Bytes of the whole body, when that is known.
    package let total: Int64?

    static func sent(_ completed: Int64, of total: Int64?) -> Self {
        Self(direction: .sent, completed: completed, total: total)
    }

    static func received(_ completed: Int64, of total: Int64?) -> Self {
        Self(direction: .received, completed: completed, total: total)
    }
}

extension ProgressReporter {
    /// What reports one direction of a transfer here, and leaves out the other.
    func counting(_ direction: BodyProgress.Direction) -> @Sendable (BodyProgress) -> Void {
        { [self] progress in
            if progress.direction == direction {
                report(completed: progress.completed, of: progress.total)
            }
        }
    }
}

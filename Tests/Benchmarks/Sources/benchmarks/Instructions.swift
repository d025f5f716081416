import Tables

/// Counts instructions of operations, including what prepares them.
enum Instructions {
    /// Returns the number of instructions for one operation.
    static func count(_ operations: [Operation]) throws -> Medians {
        var counts: Medians = [:]
        for operation in operations where !operation.isOnTwoThreads {
            for subject in Subject.allCases where subject.body(of: operation) != nil {
                let few = operation.batch == 1 ? 1 : 10 * operation.batch
                counts[operation, default: [:]][subject] = try Callgrind.count(few) {
                    ["--once", operation.rawValue, subject.rawValue, "\($0)"]
                }
            }
        }
        return counts
    }
}

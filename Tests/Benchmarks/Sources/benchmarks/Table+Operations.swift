import Tables

extension Table {
    /// Creates a table of our figures, those of peers with their multiple of ours, and our multiple of the floor.
    init(_ operations: [Operation], unit: String, peers: [Subject], floor: Subject, _ medians: Medians) {
        self.init(
            ["operation, \(unit)", Subject.ours.rawValue] + peers.map(\.rawValue) + [
                floor.rawValue, "÷ \(floor.rawValue)",
            ]
        )
        for operation in operations {
            guard let times = medians[operation], let ours = times[.ours] else { continue }
            let others = peers.map { peer in times[peer].map { "\($0.short) (\(($0 / ours).short) ×)" } ?? "–" }
            let least = [times[floor]?.short ?? "–", times[floor].map { (ours / $0).short } ?? "–"]
            add([operation.rawValue, ours.short] + others + least)
        }
    }
}

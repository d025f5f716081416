import Tables

extension Table {
    /// Our figures, those of peers and how many times ours they are, and what we are to the floor.
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

import TestSupport

/// A function that receives a fuzzed response. The remainder of a seed selects it.
enum FuzzDoor: Int, CaseIterable, Codable, Sendable {
    case begin, upload, download, stream, decode, dataTask, downloadTask, uploadTask

    var usesClient: Bool { rawValue < FuzzDoor.dataTask.rawValue }

    static func of(seed: Int) -> FuzzDoor? { FuzzDoor(rawValue: seed % allCases.count) }

    var isUpload: Bool { self == .upload || self == .uploadTask }
    var isDownload: Bool { self == .download || self == .downloadTask }

    /// True if only responses of 2xx are successes.
    var refusesStatuses: Bool { self != .dataTask && self != .uploadTask }
}

import TestSupport

/// The functions that a fuzzed response can come through. A seed's remainder tells its door.
enum FuzzDoor: Int, CaseIterable, Codable, Sendable {
    case begin, upload, download, stream, decode, dataTask, downloadTask, uploadTask

    /// Those of clients come first. The others are over URLSession whatever engine is tested.
    static var tested: [FuzzDoor] { isLibcurlTested ? allCases.filter(\.usesClient) : allCases }

    var usesClient: Bool { rawValue < FuzzDoor.dataTask.rawValue }

    static func of(seed: Int) -> FuzzDoor? { FuzzDoor(rawValue: seed % allCases.count) }

    var isUpload: Bool { self == .upload || self == .uploadTask }
    var isDownload: Bool { self == .download || self == .downloadTask }

    /// Whether only 2xx are successes.
    var refusesStatuses: Bool { self != .dataTask && self != .uploadTask }
}

import Foundation

/// What an unfinished download left for the next one.
enum PartialDownload {
    /// How many bytes can be resumed; 0 when none can.
    static func length(at destination: URL) -> Int64 {
        let path = destination.path + ".partial"
        guard FileManager.default.fileExists(atPath: path + ".validator"),
            let attributes = try? FileManager.default.attributesOfItem(atPath: path)
        else { return 0 }
        return attributes[.size] as? Int64 ?? (attributes[.size] as? Int).map(Int64.init) ?? 0
    }
}

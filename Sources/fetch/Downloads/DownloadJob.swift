import Foundation

/// One file to download.
struct DownloadJob: Sendable {
    let url: URL
    let destination: URL

    /// The destination's last path component.
    let name: String

    /// The destination as it is told to people, relative if the output directory is.
    let shownPath: String

    /// Whether there is a directory where the file should be. It would show only when all has been downloaded.
    var isDestinationDirectory: Bool {
        var isDirectory: ObjCBool = false
        let exists = FileManager.default.fileExists(atPath: destination.path, isDirectory: &isDirectory)
        return exists && isDirectory.boolValue
    }
}

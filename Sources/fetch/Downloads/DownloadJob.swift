import Foundation

/// One file to download.
struct DownloadJob: Sendable {
    let url: URL
    let destination: URL

    /// The destination's last path component.
    let name: String

    /// The destination as it is told to people, relative if the output directory is.
    let shownPath: String
}

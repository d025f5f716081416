import Foundation

/// One file to download.
struct DownloadJob: Sendable {
    let url: URL
    let destination: URL

    /// The destination's last path component.
    let name: String

    /// The destination as shown to the user, relative if the output directory is.
    let shownPath: String

    /// The number of bytes that a failed download has left for the next one.
    var keptCount: Int64 {
        let attributes = try? FileManager.default.attributesOfItem(atPath: destination.path + ".partial")
        return (attributes?[.size] as? NSNumber)?.int64Value ?? 0
    }
}

/// The download jobs for the wanted files.
struct JobList {
    private(set) var jobs: [DownloadJob] = []

    /// A line for each wanted file that can't become a job.
    private(set) var rejections: [String] = []

    init(_ wanted: [WantedFile], in directory: OutputDirectory) {
        var files: [(url: URL, name: String)] = []
        var seen: Set<[String]> = []
        for file in wanted {
            // The fragment is not sent to the server.
            let sent = file.url.prefix { $0 != "#" }
            guard sent.contains("://"), let url = URL(string: String(sent)) else {
                let reason = sent.contains("://") ? "it is not a URL" : "it has no scheme"
                let failure = DownloadFailure(reason: reason, advice: "write it like https://example.com/file.zip")
                rejections.append(failure.line(for: file.url))
                continue
            }
            let name = file.name.map(FileName.sanitised) ?? FileName.name(for: url)
            if seen.insert([url.absoluteString, name]).inserted { files.append((url, name)) }
        }
        jobs = zip(files, FileName.distinct(files)).map { file, name in
            DownloadJob(url: file.url, destination: directory.file(name), name: name, shownPath: directory.shown(name))
        }
    }
}

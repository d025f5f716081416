import Foundation

/// One file to download.
struct DownloadJob: Sendable {
    let url: URL
    let destination: URL

    /// The destination's last path component.
    let name: String

    /// The destination as shown to the user, relative if the output directory is.
    let shownPath: String

    /// The checksum that the file must have to get its name; nil for any.
    var checksum: Checksum?

    /// The file that receives the bytes.
    var received: URL {
        checksum == nil ? destination : URL(filePath: destination.path + ".unverified", directoryHint: .notDirectory)
    }

    /// The number of bytes that a failed download has left for the next one.
    var keptCount: Int64 {
        let attributes = try? FileManager.default.attributesOfItem(atPath: received.path + ".partial")
        return (attributes?[.size] as? NSNumber)?.int64Value ?? 0
    }
}

/// The download jobs for the wanted files.
struct JobList {
    private(set) var jobs: [DownloadJob] = []

    /// The wanted files that can't become jobs, and the reasons.
    private(set) var rejections: [(url: String, failure: DownloadFailure)] = []

    /// - Parameters:
    ///   - name: The name of the only file; nil for names from the URLs and from lists.
    ///   - checksum: The checksum of the only file.
    init(
        _ wanted: [WantedFile],
        in directory: OutputDirectory,
        named name: String? = nil,
        checksum: Checksum? = nil
    ) {
        var files: [(url: URL, name: String)] = []
        var seen: Set<[String]> = []
        for file in wanted {
            switch file.sent {
            case .failure(let flaw):
                rejections.append((file.url, flaw))
            case .success(let url):
                let name = name ?? file.name.map(FileName.sanitised) ?? FileName.name(for: url)
                if seen.insert([url.absoluteString, name]).inserted { files.append((url, name)) }
            }
        }
        jobs = zip(files, FileName.distinct(files)).map { file, name in
            DownloadJob(
                url: file.url,
                destination: directory.file(name),
                name: name,
                shownPath: directory.shown(name),
                checksum: checksum
            )
        }
    }
}

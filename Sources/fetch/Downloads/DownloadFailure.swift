import Deferred

/// Why a file could not be downloaded, in words for the one who asked for it.
struct DownloadFailure: Error, Equatable {
    /// What went wrong, with the offending value, as the middle of a sentence.
    let reason: String

    /// What to do about it.
    let advice: String

    /// Whether the same request may succeed a little later.
    let isTransient: Bool

    init(_ reason: String, advice: String, isTransient: Bool = false) {
        self.reason = reason
        self.advice = advice
        self.isTransient = isTransient
    }

    static func malformedURL(_ reason: String) -> DownloadFailure {
        DownloadFailure(reason, advice: "write it like https://example.com/file.zip")
    }

    static func destinationIsDirectory(_ job: DownloadJob) -> DownloadFailure {
        DownloadFailure(
            "\"\(job.shownPath)\" is a directory, and no file can take its name",
            advice: "choose another directory with --output"
        )
    }

    /// The one line for standard error.
    ///
    /// - Parameters:
    ///   - attempts: How often it was tried.
    ///   - kept: How many bytes are there for the next run to go on from.
    func line(for url: String, attempts: Int = 1, kept: Int64 = 0) -> String {
        var line = "\(url.isEmpty ? "\"\"" : PrintableText.url(url)): \(reason)"
        if attempts > 1 {
            line += " (tried \(attempts) times)"
        }
        line += "; \(advice)"
        if kept > 0 {
            line += " (\(ProgressText.bytes(kept)) are kept: the same command goes on from there)"
        }
        return PrintableText.escaping(line)
    }
}

import Foundation

/// Standard output as the place of a file's contents.
enum StandardOutput {
    /// Writes all of `bytes`, and waits for as long as the reader does.
    static func write(_ bytes: Data) throws(DownloadFailure) {
        guard let error = Terminal.write(bytes, to: STDOUT_FILENO) else { return }
        throw DownloadFailure(
            reason: "cannot write to standard output: \(String(cString: strerror(error)))",
            advice: "check the program that reads it"
        )
    }
}

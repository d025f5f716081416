internal import DeferredNetworking
public import Foundation

extension OAuth {
    /// Keeps tokens in a file, which several processes may share.
    ///
    /// ```swift
    /// let file = URL.applicationSupportDirectory.appending(path: "tool/tokens.json")
    /// let oauth = OAuth(client, storage: OAuth.FileStorage(file), over: URLSessionLoader())
    /// ```
    ///
    /// Only the owner can read the file. It is replaced as a whole, so that a process that is killed leaves the old tokens
    /// or the new ones. Beside it is an empty file with `.lock` after its name, which a process locks while it renews the
    /// tokens; the system unlocks it when that process ends, however it does. On iOS, tvOS, watchOS and visionOS, a file in
    /// a container that several processes share isn't locked, since the system ends a process for that. Not for network
    /// file systems that don't support `flock`.
    ///
    /// **Thread safety:** all members can be used from any thread; several storages may have the same file.
    public final class FileStorage: Storage {
        private let file: URL
        private let section = ExclusiveSection()

        /// Creates a storage.
        ///
        /// - Parameter file: The file, which need not exist yet, in a folder that does.
        public init(_ file: URL) {
            self.file = file
        }

        /// Returns the tokens.
        ///
        /// - Throws: A `CocoaError` with the path if the file can't be read.
        public func tokens() throws -> Tokens? {
            guard let bytes = try POSIXFile.wholeFile(at: file.path) else { return nil }
            do {
                return try JSONDecoder().decode(Tokens.self, from: bytes)
            } catch {
                // The decoder's own error may quote the file.
                throw CocoaError(.fileReadCorruptFile, userInfo: [NSFilePathErrorKey: file.path])
            }
        }

        /// Replaces the tokens; `nil` removes the file.
        ///
        /// - Throws: A `CocoaError` with the path if the file can't be written.
        public func store(_ tokens: Tokens?) throws {
            try POSIXFile.replaceFile(at: file.path, with: tokens.map { try JSONEncoder().encode($0) })
        }

        /// Runs one operation after the other, also of other processes.
        ///
        /// - Throws: The error of the operation, `CancellationError`, or a `CocoaError` with the path if the file beside
        ///   that of the tokens can't be made or locked.
        public func withExclusiveAccess<Result: Sendable>(
            _ operation: @Sendable () async throws -> Result
        ) async throws -> Result {
            try await section.run {
                // Closing it unlocks it.
                let path = file.path + ".lock"
                var lock = try POSIXFile.makeLock(at: path)
                defer { try? lock.close() }
                var pause = Duration.milliseconds(5)
                // Whoever removes the file makes room for another one, which the next process would lock.
                while try !(POSIXFile.tryLock(lock, at: path) && POSIXFile.isSame(lock, at: path)) {
                    try await _Concurrency.Task.sleep(for: pause)
                    pause = min(pause * 2, .milliseconds(100))
                    guard try !POSIXFile.isSame(lock, at: path) else { continue }
                    try? lock.close()
                    lock = try POSIXFile.makeLock(at: path)
                }
                return try await operation()
            }
        }
    }
}

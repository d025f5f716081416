internal import DeferredCore
internal import DeferredTask
internal import Foundation

/// A request's body whose bytes come from an asynchronous sequence while it is sent. Equal only to itself.
package final class StreamedBody: Sendable, Hashable {
    /// The number of bytes, if it is known.
    package let length: Int64?

    /// True if all of the bytes are gathered in a file before any is sent.
    package let isSpooled: Bool

    /// Returns the bytes, from the first.
    package let open: @Sendable () -> HTTPBodyStream

    /// Returns the error of a request for one of its sequence.
    let mapError: @Sendable (any Error) -> any Error

    /// True if ``open`` has all of the bytes only once.
    private let opensOnce: Bool

    /// The file with the bytes, from the first request for it on.
    private let spool = Lock<Task<SpooledFile>?>(nil)

    /// - Parameters:
    ///   - opensOnce: True if `open` can be called only once.
    ///   - isSpooled: True if all of the bytes are to be gathered in a file first, so that they can be sent again.
    package init(
        length: Int64?,
        opensOnce: Bool,
        isSpooled: Bool,
        mapError: @escaping @Sendable (any Error) -> any Error = { $0 },
        _ open: @escaping @Sendable () -> HTTPBodyStream
    ) {
        (self.length, self.opensOnce, self.isSpooled) = (length, opensOnce, isSpooled)
        (self.mapError, self.open) = (mapError, open)
    }

    /// True if the body can be sent only once.
    package var isOneShot: Bool { opensOnce && !isSpooled }

    /// Returns a file with the bytes. That of a spooled body is made once.
    ///
    /// - Parameter onBytes: Called when some of the bytes have come.
    func file(onBytes: @escaping @Sendable () -> Void) -> Task<SpooledFile> {
        guard isSpooled else { return write(onBytes) }
        return spool.withLock { spool in
            let task = spool ?? write(onBytes)
            spool = task
            return task.shared()
        }
    }

    private func write(_ onBytes: @escaping @Sendable () -> Void) -> Task<SpooledFile> {
        let bytes = open()
        return Task<SpooledFile> { [self] in
            let file = try SpooledFile()
            let handle = try FileHandle(forWritingTo: file.url)
            defer { try? handle.close() }
            var count: Int64 = 0
            do {
                for try await piece in bytes {
                    try handle.write(contentsOf: piece)
                    count += Int64(piece.count)
                    onBytes()
                }
            } catch let error where !(error is CocoaError) {
                throw mapError(error)
            }
            try _Concurrency.Task.checkCancellation()
            if let length, length != count { throw wrongLength(count) }
            return file
        }
    }

    package static func == (one: StreamedBody, other: StreamedBody) -> Bool { one === other }

    package func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(self)) }

    /// The error of a sequence with another number of bytes than was announced.
    ///
    /// - Parameter count: The number of bytes; nil if there are more than announced, of which the rest was not asked for.
    func wrongLength(_ count: Int64?) -> URLClientError {
        let found = count.map { "\($0) bytes" } ?? "more bytes"
        return .invalidRequest(
            reason: "the body has \(found), but its announced length is \(length ?? 0); announce the right one, or none"
        )
    }
}

/// A temporary file with the bytes of a body, which only its owner can read, and which is removed with this object.
final class SpooledFile: Sendable {
    let url: URL

    init() throws {
        url = FileManager.default.temporaryDirectory.appending(path: "deferred-body-\(UUID().uuidString)")
        let attributes: [FileAttributeKey: Any] = [.posixPermissions: 0o600]
        guard FileManager.default.createFile(atPath: url.path, contents: nil, attributes: attributes) else {
            throw CocoaError(.fileWriteUnknown, userInfo: [NSFilePathErrorKey: url.path])
        }
    }

    deinit {
        try? FileManager.default.removeItem(at: url)
    }
}

internal import DeferredCore
internal import DeferredTask
internal import Foundation
internal import Synchronization

/// A request's body whose bytes come from an asynchronous sequence while it is sent. Equal only to itself.
package final class StreamedBody: Sendable, Hashable {
    /// The number of bytes, if it is known.
    package let length: Int64?

    /// True if all of the bytes are gathered in a file before any is sent.
    private let isSpooled: Bool

    /// The fields to send behind it, if there are any.
    package let trailers: HTTPTrailers?

    /// Returns the error of a request for one of its sequence.
    let mapError: @Sendable (any Error) -> any Error

    private let make: @Sendable () -> HTTPBodyStream

    /// Throws if the bytes can't be had, as far as it can be told before they are.
    private let checkSource: @Sendable () throws(URLClientError) -> Void

    /// Thrown by a second sequence, where there is only one.
    private let alreadySent: (any Error)?
    private let wasOpened = Atomic(false)

    /// True once all of the bytes are in a file. These order nothing else.
    private let wasSpooled = Atomic(false)

    private struct Spool {
        /// The file with the bytes, from the first request for it on.
        var file: Task<SpooledFile>?

        /// Called when some have come.
        var observers: [@Sendable () -> Void] = []
    }

    private let spool = Lock(Spool())

    /// - Parameters:
    ///   - isSpooled: True if all of the bytes are to be gathered in a file first, so that they can be sent again.
    ///   - alreadySent: The error of a second attempt to read the bytes, if they can be read only once.
    ///   - make: Returns the bytes, from the first.
    package init(
        length: Int64?,
        isSpooled: Bool,
        alreadySent: (any Error)?,
        trailers: HTTPTrailers? = nil,
        mapError: @escaping @Sendable (any Error) -> any Error = { $0 },
        checkSource: @escaping @Sendable () throws(URLClientError) -> Void = {},
        _ make: @escaping @Sendable () -> HTTPBodyStream
    ) {
        self.length = length
        self.isSpooled = isSpooled
        self.alreadySent = alreadySent
        self.trailers = trailers
        self.mapError = mapError
        self.checkSource = checkSource
        self.make = make
    }

    /// Returns the bytes, from the first; if they can be read only once, the second time a stream that throws.
    package func open() -> HTTPBodyStream {
        guard let alreadySent, wasOpened.exchange(true, ordering: .relaxed) else { return make() }
        return HTTPBodyStream(AsyncThrowingStream { throw alreadySent })
    }

    /// True if the body can be sent only once: also one that was not spooled to its end.
    package var isOneShot: Bool {
        alreadySent != nil
            && !(isSpooled && (wasSpooled.load(ordering: .relaxed) || !wasOpened.load(ordering: .relaxed)))
    }

    /// True if an engine can't send the bytes as they come. None is asked for of an announced length of 0, so that it would
    /// not be seen if there are some.
    var mustBeSpooled: Bool { isSpooled || length == 0 }

    /// Checks that it can be sent, and its trailers.
    func check() throws(URLClientError) {
        try checkSource()
        guard let trailers else { return }
        try trailers.check()
        guard length == nil, !isSpooled else {
            throw .invalidRequest(
                reason: "a body with trailers goes out in chunks; give no length, and don't spool it"
            )
        }
    }

    /// Returns a file with the bytes. That of a spooled body is made once, unless that fails.
    ///
    /// - Parameter onBytes: Called when some of the bytes have come.
    func file(onBytes: @escaping @Sendable () -> Void) -> Task<SpooledFile> {
        guard isSpooled else { return write(onBytes) }
        return spool.withLock { spool in
            if let file = spool.file, !file.isCancelled, file.peek().map({ (try? $0.get()) != nil }) ?? true {
                if file.peek() == nil { spool.observers.append(onBytes) }
                return file
            }
            // The caller's closure, which makes the sequence, is called later, without the lock.
            let new = write { [weak self] in
                for observer in self?.spool.withLock({ $0.observers }) ?? [] { observer() }
            }
            spool = Spool(file: new, observers: [onBytes])
            return new
        }.shared()
    }

    private func write(_ onBytes: @escaping @Sendable () -> Void) -> Task<SpooledFile> {
        Task<SpooledFile> { [self] in
            let file = try SpooledFile()
            // A producer that doesn't heed its cancellation may never return.
            try await withTaskCancellationHandler {
                try await write(to: file, onBytes)
            } onCancel: {
                file.remove()
            }
            try _Concurrency.Task.checkCancellation()
            wasSpooled.store(true, ordering: .relaxed)
            return file
        }
    }

    private func write(to file: SpooledFile, _ onBytes: @Sendable () -> Void) async throws {
        guard let handle = POSIXFile.handle(file.url.path, O_WRONLY) else { throw FileFailure.writing(file.url.path) }
        defer { try? handle.close() }
        var count: Int64 = 0
        do {
            for try await piece in open() {
                if let code = POSIXFile.writeAll(piece, to: handle.fileDescriptor) {
                    throw FileFailure.writing(file.url.path, code)
                }
                count += Int64(piece.count)
                onBytes()
            }
        } catch let error where !(error is CocoaError) {
            throw mapError(error)
        }
        if let length, length != count { throw wrongLength(count) }
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
        guard let descriptor = POSIXFile.openFile(url.path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC) else {
            throw FileFailure.writing(url.path)
        }
        _ = close(descriptor)
    }

    deinit {
        remove()
    }

    func remove() {
        try? FileManager.default.removeItem(at: url)
    }
}

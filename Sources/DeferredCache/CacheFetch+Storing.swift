internal import DeferredHTTP
internal import DeferredNetworking
internal import Dispatch
internal import Foundation

// MARK: Storing

extension CacheFetch {
    /// Stores and delivers a response.
    func keep(_ response: HTTPResponse, _ head: StoredHead) {
        if let stream = response.stream { return keep(response, stream, head) }
        if let file = response.file { return keep(response, file, head) }
        if let ticket, let head = head.completed(by: Int64(response.body.count)) {
            core.store.put(query.key, head, response.body, ticket)
            query.note { $0.isStored = ticket.allows(head) && response.body.count <= core.store.bodyLimit }
        }
        finish(response)
    }

    /// Delivers a body that is stored while it is read.
    private func keep(_ response: HTTPResponse, _ stream: HTTPBodyStream, _ head: StoredHead) {
        // A cancellation that came with the head may have ended the body, which is for nobody else then.
        if query.task.isCancelled {
            close()
            query.task.complete(with: .success(response))
            return core.end(self, .cancelled)
        }
        guard let ticket, let writer = core.store.writer(query.key, head, ticket) else {
            removeOutdated(by: head)
            return finish(response)
        }
        let own = share(stream, head, writer, ticket)
        query.note { $0.isStored = true }
        query.succeed(response.with(body: .stream(own)))
    }

    /// Stores a body while it is read, and returns it for this request.
    ///
    /// - Parameter start: The number of bytes that the writer has already.
    private func share(
        _ stream: HTTPBodyStream,
        _ head: StoredHead,
        _ writer: any BodyWriter,
        _ ticket: FetchTicket,
        from start: Int64 = 0
    ) -> HTTPBodyStream {
        // Without the task, whose result has the stream: its release ends the transfer.
        let body = SharedBody(stream, head, writer, from: start, clock: core.clock) {
            [core, key = query.key, shared] isLost in
            if isLost { core.removeOutdated(by: head, ticket, key) }
            core.tickets.end(key, ticket)
            if let shared { core.sharedFetches.end(shared, .arrived) }
        }
        guard let own = body.join(for: query.task.request) else { preconditionFailure("a body without a first reader") }
        if let shared {
            // Whether a body of unknown length will fit, those find out that have waited. Whoever comes later doesn't wait.
            if head.announcedLength == nil { core.sharedFetches.close(shared) }
            core.sharedFetches.share(shared, body)
        }
        return own
    }

    /// Stores a copy of a file, before anybody else can change it.
    private func keep(_ response: HTTPResponse, _ file: URL, _ head: StoredHead) {
        guard let size = POSIXFile.lengthOfReadableRegularFile(at: file.path), let full = head.completed(by: size),
            let ticket, let writer = core.store.writer(query.key, full, ticket)
        else {
            removeOutdated(by: head)
            return finish(response)
        }
        DispatchQueue.global(qos: .userInitiated).async {
            if Self.copy(file, to: writer) == size {
                writer.commit(full)
                query.note { $0.isStored = true }
            } else {
                writer.discard()
                removeOutdated(by: head)
            }
            finish(response)
        }
    }

    private func removeOutdated(by head: StoredHead) {
        if let ticket { core.removeOutdated(by: head, ticket, query.key) }
    }

    /// Returns the number of bytes that were copied, or -1 if some of them could not be stored.
    private static func copy(_ file: URL, to writer: any BodyWriter) -> Int64 {
        guard let handle = POSIXFile.handle(file.path, O_RDONLY) else { return -1 }
        defer { try? handle.close() }
        var count: Int64 = 0
        while let bytes = POSIXFile.read(1 << 20, at: count, from: handle.fileDescriptor) {
            guard writer.append(bytes) else { return -1 }
            count += Int64(bytes.count)
        }
        return count
    }

    /// Answers with a stored part and the rest that has been asked for.
    func append(_ response: HTTPResponse, _ head: StoredHead) {
        if let stream = response.stream { return append(stream, head) }
        guard let stored, let ticket,
            stored.head.extent.count + Int64(response.body.count) == head.extent.count
        else { return repeatPlainly() }
        stored.body.read(0..<stored.head.extent.count) { beginning in
            guard let beginning else {
                core.store.removeDamaged(query.key, stored)
                return repeatPlainly()
            }
            let bytes = beginning + response.body
            core.store.put(query.key, head, bytes, ticket)
            answer(StoredResponse(head: head, body: BodyBytes(bytes), version: 0))
        }
    }

    private func append(_ stream: HTTPBodyStream, _ head: StoredHead) {
        guard let stored, let ticket, let writer = core.store.writer(query.key, head, ticket) else {
            stream.cancel()
            return repeatPlainly()
        }
        // Whoever comes from now on has not waited for the head.
        close()
        query.beginWaiting { stream.cancel() }
        Self.copy(stored, from: 0, to: writer) { isCopied in
            query.endWaiting()
            let isCancelled = query.task.failIfCancelled()
            guard isCopied, !isCancelled else {
                writer.discard()
                stream.cancel()
                return isCancelled ? core.end(self, .cancelled) : repeatPlainly()
            }
            core.count { $0.validated += 1 }
            let age = head.age(at: core.now()) / 1_000
            let own = share(stream, head, writer, ticket, from: stored.head.extent.count)
            let reuse = ReuseRules.Reuse(form: .whole, age: age, isStale: false, isConfirmed: true)
            query.succeed(Delivery(head, reuse, query.task.request).response(.stream(own)))
        }
    }

    /// Copies the bytes of a stored response, piece by piece, and calls `end` with whether that was possible.
    private static func copy(
        _ stored: StoredResponse,
        from start: Int64,
        to writer: any BodyWriter,
        _ end: @escaping @Sendable (Bool) -> Void
    ) {
        let piece = start..<min(start + 1 << 20, stored.head.extent.count)
        if piece.isEmpty { return end(true) }
        stored.body.read(piece) { bytes in
            guard let bytes, writer.append(bytes) else { return end(false) }
            copy(stored, from: piece.upperBound, to: writer, end)
        }
    }
}

extension StoredHead {
    /// Returns the head with the number of bytes that have arrived; `nil` if they are not those that it announces.
    func completed(by count: Int64) -> StoredHead? {
        if extent.count >= 0 { return extent.count == count ? self : nil }
        // The length of a body that had a coding is that of the encoded one.
        if headers["Content-Encoding"] == nil, let length = headers["Content-Length"],
            length != String(count)
        {
            return nil
        }
        return with(extent: .init(count: count, total: count))
    }

    /// The number of bytes of the body as it is delivered; `nil` if it is known only at the end.
    var announcedLength: Int64? {
        headers["Content-Encoding"] == nil ? headers["Content-Length"].flatMap { HTTPNumber.parse($0) } : nil
    }

    /// Returns the head of the first bytes of this response; `nil` if the rest of it couldn't be asked for: RFC 9111,
    /// section 3.3.
    func beginning(_ count: Int64) -> StoredHead? {
        guard status == .ok, rangeValidator != nil, headers["Accept-Ranges"] != "none",
            let announcedLength, count > 0, count < announcedLength
        else { return nil }
        return with(headers, status: 206).with(extent: .init(first: 0, count: count, total: announcedLength))
    }
}

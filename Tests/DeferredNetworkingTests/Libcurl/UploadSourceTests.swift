#if os(Linux)
import DeferredTask
import Foundation
import TestSupport
import Testing

@testable import DeferredNetworking

@Suite(.ownThread, .timeLimit(.minutes(1)))
struct UploadSourceTests {
    private struct Reason: Error {}

    /// A stream of one's own that can't be read.
    private final class Unreadable: InputStream {
        private let result: Int
        private let reason: (any Error)?
        private var isOpen = false

        /// - Parameter reason: The error after which the stream has failed; `nil` if it doesn't say so.
        init(reading result: Int, reason: (any Error)?) {
            (self.result, self.reason) = (result, reason)
            super.init(data: Data())
        }

        override var streamStatus: Status { !isOpen ? .notOpen : reason == nil ? .open : .error }
        override var streamError: (any Error)? {
            guard let reason else { preconditionFailure("there is no error, and Foundation's streams trap") }
            return reason
        }
        override func open() { isOpen = true }
        override func close() {}
        override func read(_: UnsafeMutablePointer<UInt8>, maxLength: Int) -> Int { result }
    }

    @Test(arguments: [(0, true), (-1, true), (-1, false)])
    func `a stream that fails is no empty body, whatever it reads`(result: Int, saysWhy: Bool) async throws {
        let url = try #require(URL(string: "http://host/"))
        let bytes = QueuedBytes {
            try BodyStreams.open(Unreadable(reading: result, reason: saysWhy ? Reason() : nil), of: url)
        }
        let error = try #require(await #expect(throws: URLError.self) { try await bytes.makeAsyncIterator().next() })
        #expect(error.code == .cannotOpenFile && error.failingURL == url)
        #expect((error.userInfo[NSUnderlyingErrorKey] is Reason) == saysWhy)
    }

    /// A stream without end, which counts how often it is read.
    private final class Endless: InputStream {
        private let reads: Log<Int>
        private var isOpen = false

        init(_ reads: Log<Int>) {
            self.reads = reads
            super.init(data: Data())
        }

        override var streamStatus: Status { isOpen ? .open : .notOpen }
        override func open() { isOpen = true }
        override func close() {}
        override func read(_: UnsafeMutablePointer<UInt8>, maxLength: Int) -> Int {
            reads.add(maxLength)
            return maxLength
        }
    }

    @Test func `each request that waits for a spooled body is told of its bytes`() async throws {
        let (bytes, sender) = AsyncStream.makeStream(of: Data.self)
        let body = StreamedBody(length: nil, isSpooled: true, alreadySent: nil) { HTTPBodyStream(bytes) }
        let logs = [Log<Int>(), Log<Int>()]
        let files = logs.map { log in body.file { log.add(1) } }
        for count in 1...2 {
            sender.yield(Data("a".utf8))
            try await eventually { logs.allSatisfy { $0.entries.count == count } }
        }
        sender.finish()
        for file in files { #expect(try Data(contentsOf: await file.get().url) == Data("aa".utf8)) }
    }

    @Test func `no more than two chunks are read ahead, however slowly they are sent`() async throws {
        let url = try #require(URL(string: "http://host/"))
        let reads = Log<Int>()
        let body = StreamedBody(length: nil, isSpooled: false, alreadySent: nil) {
            HTTPBodyStream(QueuedBytes { try BodyStreams.open(Endless(reads), of: url) })
        }
        let source = StreamedUploadSource(body) {}
        var (buffer, most) = ([UInt8](repeating: 0, count: 16), 0)
        try await eventually { !reads.entries.isEmpty }
        try await eventually {
            if case .bytes = buffer.withUnsafeMutableBytes({ source.read(into: $0) }) { true } else { false }
        }
        // All of this is from the first chunk.
        for _ in 0..<10_000 {
            guard case .bytes(16) = buffer.withUnsafeMutableBytes({ source.read(into: $0) }) else {
                Issue.record("nothing to send")
                return
            }
            most = max(most, reads.entries.count)
        }
        #expect(most <= 3)
    }
}
#endif

import DeferredCore
import Foundation
import TestSupport
import Testing

@testable import DeferredNetworking

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

@Suite("Download sink", .ownThread, .timeLimit(.minutes(5)))
final class DownloadSinkTests {
    private let directory: URL
    private var destination: URL { directory.appending(path: "file") }

    init() throws {
        directory = FileManager.default.temporaryDirectory.appending(path: "DownloadSinkTests-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
    }

    deinit {
        try? FileManager.default.removeItem(at: directory)
    }

    private func response(_ status: Int, _ headers: [String: String] = [:]) -> ResponseHead { .made(status, headers) }

    private final class Recording: Sendable {
        let error = Lock<(any Error)?>(nil)
        let mustStartOver = Lock(false)
        let progress = Lock<[Int64]>([])
    }

    private func sink(
        isRangeRequested: Bool = false,
        existing: String? = nil,
        into recording: Recording
    ) throws -> DownloadSink {
        let url = try #require(URL(string: "http://host/"))
        if let existing {
            try Data(existing.utf8).write(to: URL(filePath: destination.path + ".partial"))
            try Data("\"e\"\n10\nhttp://host/\n".utf8).write(to: URL(filePath: destination.path + ".partial.validator"))
        }
        let file = try PartialFile(destination: destination, of: url, isResumable: existing != nil)
        return DownloadSink(
            file,
            of: url,
            isRangeRequested: isRangeRequested,
            onProgress: { progress in recording.progress.withLock { $0.append(progress.completed) } },
            completion: { file, outcome in
                var file = file
                file.abandon()
                switch outcome {
                case .mustStartOver: recording.mustStartOver.withLock { $0 = true }
                case .ended(.failure(let error)): recording.error.withLock { $0 = error }
                case .ended(.success): break
                }
            }
        )
    }

    @Test func `a 401 before the file leaves no trace in it`() throws {
        let recording = Recording()
        let sink = try sink(into: recording)
        #expect(try !sink.receive(head: response(401)))
        let ok = response(200)
        #expect(try sink.receive(head: ok))
        try sink.receive(bytes: Data("welcome".utf8))
        sink.report(.received(7, of: nil))
        sink.finish(.success(ok))
        #expect(try Data(contentsOf: destination) == Data("welcome".utf8))
        #expect(recording.progress.withLock { $0 } == [7])
    }

    @Test func `an error never becomes the file`() throws {
        let recording = Recording()
        let sink = try sink(into: recording)
        #expect(try !sink.receive(head: response(404)))
        sink.finish(.failure(URLClientError.unacceptableStatus(code: 404, body: Data())))
        #expect(recording.error.withLock { $0 as? URLClientError } == .unacceptableStatus(code: 404, body: Data()))
        #expect(try FileManager.default.contentsOfDirectory(atPath: directory.path) == [])
    }

    @Test func `the rest is appended, and progress counts the part that was there`() throws {
        let recording = Recording()
        let sink = try sink(isRangeRequested: true, existing: "hello", into: recording)
        let response = response(206, ["Content-Range": "bytes 5-9/10", "ETag": "\"e\""])
        #expect(try sink.receive(head: response))
        try sink.receive(bytes: Data("world".utf8))
        sink.report(.received(5, of: 5))
        sink.finish(.success(response))
        #expect(try Data(contentsOf: destination) == Data("helloworld".utf8))
        #expect(recording.progress.withLock { $0 } == [10])
    }

    @Test func `a rest without a length that ends too early is truncated, and kept`() throws {
        let recording = Recording()
        let sink = try sink(isRangeRequested: true, existing: "hello", into: recording)
        let response = response(206, ["Content-Range": "bytes 5-9/10", "ETag": "\"e\""])
        #expect(try sink.receive(head: response))
        try sink.receive(bytes: Data("wor".utf8))
        sink.finish(.success(response))
        #expect(recording.error.withLock { $0 as? URLClientError } == .truncatedBody(received: 8, expected: 10))
        #expect(try Data(contentsOf: URL(filePath: destination.path + ".partial")) == Data("hellowor".utf8))
    }

    @Test func `a range that cannot be used ends the transfer at once, to start over`() throws {
        let recording = Recording()
        let sink = try sink(isRangeRequested: true, existing: "hello", into: recording)
        let response = response(206, ["Content-Range": "bytes 4-9/10"])
        do {
            _ = try sink.receive(head: response)
            Issue.record("accepted")
        } catch {
            sink.finish(.failure(error))
        }
        #expect(recording.mustStartOver.withLock { $0 })
    }
}

import DeferredCore
import Foundation
import TestSupport
import Testing

@testable import DeferredNetworking

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

@Suite("File receiver", .ownThread, .timeLimit(.minutes(5)))
final class FileReceiverTests {
    private let directory: URL
    private let exchange: Exchange
    private var destination: URL { directory.appending(path: "file") }

    init() throws {
        directory = FileManager.default.temporaryDirectory.appending(path: "FileReceiverTests-\(UUID().uuidString)")
        exchange = .idle(.checked(URLRequest(url: try #require(URL(string: "http://host/")))))
        try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
    }

    deinit {
        try? FileManager.default.removeItem(at: directory)
    }

    private func response(_ status: Int, _ headers: [String: String] = [:]) -> ResponseHead { .made(status, headers) }

    private let progress = Log<Int64>()

    /// Returns a receiver that has begun, and the request that it wants to be sent.
    private func receiver(existing: String? = nil) throws -> (FileReceiver, CheckedRequest) {
        let url = try #require(URL(string: "http://host/"))
        if let existing {
            try Data(existing.utf8).write(to: URL(filePath: destination.path + ".partial"))
            try Data("\"e\"\n10\nhttp://host/\n".utf8).write(to: URL(filePath: destination.path + ".partial.validator"))
        }
        var receiver = FileReceiver(to: destination, resuming: existing != nil) { [progress] in
            progress.add($0.completed)
        }
        let request = try receiver.begin(.checked(URLRequest(url: url)), of: exchange)
        return (receiver, request)
    }

    private func error(of end: AttemptEnd) -> (any Error)? {
        if case .result(.failure(let error)) = end { error } else { nil }
    }

    private func isTaken(_ verdict: HeadVerdict) -> Bool { if case .take = verdict { true } else { false } }

    @Test func `a 401 before the file leaves no trace in it`() throws {
        var (receiver, _) = try receiver()
        #expect(try !isTaken(receiver.receive(head: response(401), of: exchange)))
        let ok = response(200)
        #expect(try isTaken(receiver.receive(head: ok, of: exchange)))
        try receiver.receive(bytes: Data("welcome".utf8))
        receiver.report(.received(7, of: nil))
        #expect(error(of: receiver.finish(.success(ok))) == nil)
        #expect(try Data(contentsOf: destination) == Data("welcome".utf8))
        #expect(progress.entries == [7])
    }

    @Test func `an error never becomes the file`() throws {
        var (receiver, _) = try receiver()
        #expect(try !isTaken(receiver.receive(head: response(404), of: exchange)))
        let failure = URLClientError.unacceptableStatus(code: 404, body: Data())
        #expect(error(of: receiver.finish(.failure(failure))) as? URLClientError == failure)
        #expect(try FileManager.default.contentsOfDirectory(atPath: directory.path) == [])
    }

    @Test func `the rest is appended, and progress counts the part that was there`() throws {
        var (receiver, request) = try receiver(existing: "hello")
        #expect(request.value(of: "Range") == "bytes=5-" && request.value(of: "If-Range") == "\"e\"")
        let response = response(206, ["Content-Range": "bytes 5-9/10", "ETag": "\"e\""])
        #expect(try isTaken(receiver.receive(head: response, of: exchange)))
        try receiver.receive(bytes: Data("world".utf8))
        receiver.report(.received(5, of: 5))
        #expect(error(of: receiver.finish(.success(response))) == nil)
        #expect(try Data(contentsOf: destination) == Data("helloworld".utf8))
        #expect(progress.entries == [10])
    }

    @Test func `a range that cannot be used ends the attempt at once, to start over with the whole file`() throws {
        var (receiver, request) = try receiver(existing: "hello")
        let response = response(206, ["Content-Range": "bytes 4-9/10"])
        do {
            _ = try receiver.receive(head: response, of: exchange)
            Issue.record("accepted")
        } catch {
            guard case .startOver = receiver.finish(.failure(error)) else {
                Issue.record("not started over")
                return
            }
        }
        request = try receiver.begin(.checked(URLRequest(url: request.url)), of: exchange)
        #expect(request.value(of: "Range") == nil)
        let ok = self.response(200)
        #expect(try isTaken(receiver.receive(head: ok, of: exchange)))
        try receiver.receive(bytes: Data("all".utf8))
        #expect(error(of: receiver.finish(.success(ok))) == nil)
        #expect(try Data(contentsOf: destination) == Data("all".utf8))
    }

    @Test func `one that is cancelled instead of starting over leaves its part`() throws {
        var (receiver, _) = try receiver(existing: "hello")
        do { _ = try receiver.receive(head: response(206, [:]), of: exchange) } catch {
            _ = receiver.finish(.failure(error))
            _ = receiver.finish(.failure(URLError(.cancelled)))
        }
        #expect(try Data(contentsOf: URL(filePath: destination.path + ".partial")) == Data("hello".utf8))
    }
}

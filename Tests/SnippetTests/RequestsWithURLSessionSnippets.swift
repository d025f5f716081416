// swift-format-ignore-file
// Written by Documentation/snippets.py from Documentation/Deferred.docc/Articles/RequestsWithURLSession.md.

import Deferred
import DeferredTesting
import Foundation
import TestSupport
import Testing

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

@Suite(.ownThread, .timeLimit(.minutes(1)))
struct RequestsWithURLSessionSnippets {
    @Test func `Get a body`() async throws {
#sourceLocation(file: "Documentation/Deferred.docc/Articles/RequestsWithURLSession.md", line: 13)
        struct User: Decodable { let name: String }
        let server = try LoopbackServer { _ in .json(#"{"name": "Ada"}"#) }
        defer { server.stop() }
        let url = server.url("/users/1")
#sourceLocation()
#sourceLocation(file: "Documentation/Deferred.docc/Articles/RequestsWithURLSession.md", line: 19)






        let user = URLSession.shared.beginDataTask(with: url).map(on: .any()) { data, response in
            guard (response as? HTTPURLResponse)?.statusCode == 200 else { throw URLError(.badServerResponse) }
            return try JSONDecoder().decode(User.self, from: data)
        }
        print(try await user.get().name)
#sourceLocation()
    }

    @Test func `Send a body`() async throws {
#sourceLocation(file: "Documentation/Deferred.docc/Articles/RequestsWithURLSession.md", line: 37)
        let server = try LoopbackServer { request in .response(201, body: .bytes(request.body)) }
        defer { server.stop() }
        let url = server.url("/users")
#sourceLocation()
#sourceLocation(file: "Documentation/Deferred.docc/Articles/RequestsWithURLSession.md", line: 42)
        var request = URLRequest(url: url)
        request.httpMethod = "POST"
        request.setValue("application/json", forHTTPHeaderField: "Content-Type")
        request.httpBody = Data(#"{"name": "Grace"}"#.utf8)

        let created = URLSession.shared.beginDataTask(with: request)
#sourceLocation()
#sourceLocation(file: "Documentation/Deferred.docc/Articles/RequestsWithURLSession.md", line: 50)
        let (echo, response) = try await created.value
        #expect(echo == request.httpBody && (response as? HTTPURLResponse)?.statusCode == 201)
#sourceLocation()
    }

    @Test func `Download into a file`() async throws {
#sourceLocation(file: "Documentation/Deferred.docc/Articles/RequestsWithURLSession.md", line: 60)
        let server = try LoopbackServer { _ in .response(body: .pattern(count: 1000)) }
        defer { server.stop() }
        let url = server.url("/photo.jpeg")
        let folder = FileManager.default.temporaryDirectory.appending(path: "\(UUID())")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
#sourceLocation()
#sourceLocation(file: "Documentation/Deferred.docc/Articles/RequestsWithURLSession.md", line: 68)
        let photo = URLSession.shared.beginDownloadTask(with: url, to: folder.appending(path: "photo.jpeg"))
        photo.uponSuccess(on: .main) { file, _ in print("saved \(file.lastPathComponent)") }
        photo.uponFailure(on: .main) { print("failed: \($0.localizedDescription)") }
#sourceLocation()
#sourceLocation(file: "Documentation/Deferred.docc/Articles/RequestsWithURLSession.md", line: 73)
        _ = try await photo.value
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path) == ["photo.jpeg"])
#sourceLocation()
    }

    @Test func `Many at once`() async throws {
#sourceLocation(file: "Documentation/Deferred.docc/Articles/RequestsWithURLSession.md", line: 83)
        let server = try LoopbackServer { request in .response(body: .text(request.path)) }
        defer { server.stop() }
        let urls = ["a", "bc", "def"].map { server.url("/\($0)") }
#sourceLocation()
#sourceLocation(file: "Documentation/Deferred.docc/Articles/RequestsWithURLSession.md", line: 88)
        let sizes = urls.mapTasks(maxConcurrent: 4) { url in
            URLSession.shared.beginDataTask(with: url).map { data, _ in data.count }
        }
        sizes.uponProgress(on: .main) { print($0) }
        print(try await sizes.value)
#sourceLocation()
#sourceLocation(file: "Documentation/Deferred.docc/Articles/RequestsWithURLSession.md", line: 95)
        #expect(try await sizes.value == [2, 3, 4])
#sourceLocation()
    }
}

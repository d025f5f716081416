// swift-format-ignore-file
// Written by Documentation/snippets.py from Documentation/Deferred.docc/Articles/GettingStarted.md.

import Deferred
import DeferredTesting
import Foundation
import TestSupport
import Testing

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

#sourceLocation(file: "Documentation/Deferred.docc/Articles/GettingStarted.md", line: 134)
/// Downloads files into a folder, four at a time.
func download(
    _ urls: [URL], to folder: URL, with client: URLClient
) -> Task<[URL]> {
    urls.mapTasks(maxConcurrent: 4) { url in
        let file = folder.appending(path: url.lastPathComponent)
        return client.download(URLRequest(url: url), to: file)
            .map { file, _ in file }
    }
}
#sourceLocation()

@Suite(.ownThread, .timeLimit(.minutes(1)))
struct GettingStartedSnippets {
    @Test func `A value that comes later`() async throws {
#sourceLocation(file: "Documentation/Deferred.docc/Articles/GettingStarted.md", line: 61)
        let greeting = Deferred<String>()

        // A handler: runs once, when the value has arrived.
        greeting.upon(.immediate) { print("received: \($0)") }
        // A future of a value that is computed from it.
        let length = greeting.map { $0.count }

        greeting.fill(with: "hello")  // prints "received: hello"
        print(await length.value)     // prints 5
#sourceLocation()
    }

    @Test func `Work that can fail`() async throws {
#sourceLocation(file: "Documentation/Deferred.docc/Articles/GettingStarted.md", line: 90)
        let server = try LoopbackServer { _ in .json(#"{"name": "swift"}"#) }
        defer { server.stop() }
        let url = server.url("/repos/swiftlang/swift")
#sourceLocation()
#sourceLocation(file: "Documentation/Deferred.docc/Articles/GettingStarted.md", line: 96)
        struct Repository: Decodable { let name: String }

        let request = URLSession.shared.beginDataTask(with: url)  // already running
        let repository = request.map { data, _ in
            try JSONDecoder().decode(Repository.self, from: data)
        }
        repository.uponFailure(on: .main) { print("failed: \($0.localizedDescription)") }

        print(try await repository.value.name)  // prints swift
#sourceLocation()
#sourceLocation(file: "Documentation/Deferred.docc/Articles/GettingStarted.md", line: 107)
        #expect(try await repository.value.name == "swift")
#sourceLocation()
    }

    @Test func `The program`() async throws {
#sourceLocation(file: "Documentation/Deferred.docc/Articles/GettingStarted.md", line: 147)
        let server = try LoopbackServer { request in .response(body: .text(request.path)) }
        defer { server.stop() }
        let folder = FileManager.default.temporaryDirectory.appending(path: "\(UUID())")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let names = (1...9).map { "\($0).txt" }
        let client = URLClient()
        let files = try await download(names.map { server.url("/\($0)") }, to: folder, with: client).value
        await client.shutdown().value
        #expect(files.map(\.lastPathComponent) == names)
        #expect(try String(contentsOf: files[8], encoding: .utf8) == "/9.txt")
#sourceLocation()
    }

    func `The program, 2`() async throws {
#sourceLocation(file: "Documentation/Deferred.docc/Articles/GettingStarted.md", line: 167)
        let arguments = CommandLine.arguments.dropFirst()
        let urls = arguments.compactMap { URL(string: $0) }.filter { $0.host() != nil }
        let names = Set(urls.map(\.lastPathComponent))
        guard !urls.isEmpty, urls.count == arguments.count, names.count == urls.count else {
            print("usage: get URL…, of files whose names differ")
            exit(2)
        }

        let client = URLClient()
        let downloads = download(urls, to: .currentDirectory(), with: client)

        // Ctrl-C cancels the downloads, and then the program ends by itself.
        signal(SIGINT, SIG_IGN)
        let interrupts = DispatchSource.makeSignalSource(signal: SIGINT)
        interrupts.setEventHandler { downloads.cancel() }
        interrupts.resume()

        // 45 %, 1.20 MB of 2.70 MB, 300 kB/s, 0:05 left
        for await snapshot in downloads.progressUpdates {
            let line = "\r\(snapshot)\u{1B}[K"
            FileHandle.standardError.write(Data(line.utf8))
        }
        print()

        do {
            for file in try await downloads.value { print(file.path) }
        } catch where error.isCancellation {
            print("stopped; the next run resumes")
        } catch {
            print("failed: \(error.localizedDescription)")
            exit(1)
        }
#sourceLocation()
    }
}

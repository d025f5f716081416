import Deferred
import DeferredTesting
import Foundation
import Testing

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// The README's Swift, compiled and run. The last test makes sure that it is the same text.
@Suite(.timeLimit(.minutes(1)))
struct ReadmeTests {
    @Test func futures() async {
        let answer = Deferred<Int>()
        let text = answer.map { "The answer is \($0)" }

        let registration = answer.upon(.any()) { print("on a background queue: \($0)") }
        text.upon(.immediate) { print($0) }
        registration.cancel()  // takes the first handler back, and frees what it captured

        answer.fill(with: 42)  // true: the first one wins, and runs the handlers
        answer.fill(with: 43)  // false: nothing happens
        print(answer.peek() ?? 0, await text.value)

        #expect(registration.isCancelled)
        #expect(text.peek() == "The answer is 42")
    }

    @Test func tasks() async throws {
        enum Failure: Error { case noSuchUser }

        func name(of user: Int) -> Task<String> {
            let promise = Task<String>.Promise()  // if it is lost unfilled, the task fails, and says where this line is
            DispatchQueue.global().async {
                if user == 1 { promise.succeed(with: "Ada") } else { promise.fail(with: Failure.noSuchUser) }
            }
            return Task(promise, uponCancel: { promise.fail(with: CancellationError()) })
        }

        let greeting = name(of: 1)
            .map { "Hello, \($0)" }
            .recover { error in
                if error.isCancellation { throw error }
                return "Hello, stranger"
            }
        greeting.uponSuccess(on: .main) { print($0) }
        print(try await greeting.value, greeting.progress.fractionCompleted)

        #expect(try await greeting.value == "Hello, Ada")
        await #expect(throws: Failure.noSuchUser) { try await name(of: 2).value }
    }

    @Test func requests() async throws {
        let server = try LoopbackServer { _ in .response(body: "hello") }
        defer { server.stop() }
        let url = server.url("/greeting.txt")
        let destination = FileManager.default.temporaryDirectory.appending(path: "\(UUID()).txt")
        defer { try? FileManager.default.removeItem(at: destination) }

        let request = URLSession.shared.beginDataTask(with: url)
        let length = request.map { data, _ in data.count }

        length.uponSuccess(on: .main) { print("\($0) bytes") }
        length.uponFailure(on: .main) { print("failed: \($0)") }
        print("so far: \(request.progress.fractionCompleted)")

        // A file at `destination` is always whole: the bytes go to a file beside it, which is renamed when it is complete.
        let download = URLSession.shared.beginDownloadTask(with: url, to: destination)
        let (file, response) = try await download.get()  // cancels the download if this Swift task is cancelled
        print(file.lastPathComponent, response.expectedContentLength)

        #expect(try await length.value == 5)
        #expect(try Data(contentsOf: file) == Data("hello".utf8))
    }

    @Test func clients() async throws {
        struct User: Decodable { let name: String }
        let server = try LoopbackServer { _ in .json(#"{"name": "Ada"}"#) }
        defer { server.stop() }
        let url = server.url("/user")

        var configuration = URLClient.Configuration()
        configuration.deadlines.total = .seconds(5)
        configuration.maximumRequestsInFlight = 64
        configuration.authentication = .bearer("token")
        let client = URLClient(configuration: configuration)

        let user = client.decode(User.self, from: URLRequest(url: url))
        user.uponSuccess(on: .main) { print("Hello, \($0.name)") }

        let response = try await client.stream(URLRequest(url: url)).get()  // as soon as the head is there
        for try await bytes in response.body {
            print("\(bytes.count) bytes of \(response.head.expectedContentLength)")
        }
        await client.shutdown().value  // lets end what runs, refuses what comes

        #expect(try await user.value.name == "Ada")
    }

    @Test func `every block of the README stands in this file`() throws {
        let here = URL(filePath: #filePath)
        let readme = here.appending(path: "../../../README.md").standardizedFileURL
        let blocks = try String(contentsOf: readme, encoding: .utf8)
            .components(separatedBy: "```swift\n").dropFirst()
            .compactMap { $0.components(separatedBy: "\n```").first }
            .filter { !$0.hasPrefix(".package") }
        #expect(blocks.count == 4)
        let source = lines(of: try String(contentsOf: here, encoding: .utf8))
        for block in blocks {
            let wanted = lines(of: block).filter { $0 != "import Deferred" }
            let found = source.indices.contains { source[$0...].starts(with: wanted) }
            #expect(found, "not compiled:\n\(block)")
        }
    }

    /// Without indentation and empty lines.
    private func lines(of text: String) -> [Substring] {
        text.split(separator: "\n").map { $0.drop { $0 == " " } }.filter { !$0.isEmpty }
    }
}

// swift-format-ignore-file
// Written by Documentation/snippets.py from Documentation/Deferred.docc/Articles/WatchingProgress.md.

import Deferred
import DeferredTesting
import Foundation
import TestSupport
import Testing

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

#sourceLocation(file: "Documentation/Deferred.docc/Articles/WatchingProgress.md", line: 100)
func bar(_ snapshot: ProgressSnapshot, width: Int = 30) -> String {
    let filled = Int(snapshot.fraction * Double(width))
    return "[" + String(repeating: "#", count: filled) + String(repeating: ".", count: width - filled) + "] \(snapshot)"
}
#sourceLocation()

#sourceLocation(file: "Documentation/Deferred.docc/Articles/WatchingProgress.md", line: 129)
#if canImport(SwiftUI)
import SwiftUI

@MainActor @Observable
final class DownloadModel {
    private(set) var fraction = 0.0
    private(set) var text = ""
    private let download: Task<(URL, URLResponse)>

    init(_ download: Task<(URL, URLResponse)>) {
        self.download = download
        download.uponProgress(on: .mainActor) { [weak self] snapshot in
            self?.fraction = snapshot.fraction
            self?.text = snapshot.description
        }
    }

    func cancel() { download.cancel() }
}

struct DownloadView: View {
    let model: DownloadModel

    var body: some View {
        ProgressView(value: model.fraction) { Text(model.text) }
        Button("Stop", role: .cancel) { model.cancel() }
    }
}
#endif
#sourceLocation()

@Suite(.ownThread, .timeLimit(.minutes(1)))
struct WatchingProgressSnippets {
    @Test func `Overview`() async throws {
#sourceLocation(file: "Documentation/Deferred.docc/Articles/WatchingProgress.md", line: 13)
        let server = try LoopbackServer { _ in .response(body: .pattern(count: 100_000)) }
        defer { server.stop() }
        let url = server.url("/photo.jpeg")
#sourceLocation()
#sourceLocation(file: "Documentation/Deferred.docc/Articles/WatchingProgress.md", line: 18)






        let download = URLSession.shared.beginDataTask(with: url).map { data, _ in data.count }

        // A handler.
        let registration = download.uponProgress(on: .main) { print($0.fraction) }
        // A loop, which ends with the task.
        for await snapshot in download.progressUpdates { print(snapshot) }
        // A Foundation Progress.
        print(download.progress.fractionCompleted)
#sourceLocation()
#sourceLocation(file: "Documentation/Deferred.docc/Articles/WatchingProgress.md", line: 34)
        registration.cancel()
        #expect(download.progress.fractionCompleted == 1)
#sourceLocation()
    }

    @Test func `Report your own`() async throws {
#sourceLocation(file: "Documentation/Deferred.docc/Articles/WatchingProgress.md", line: 71)
        func checksum(of parts: [Data]) -> Task<Int> {
            let promise = Task<Int>.Promise()
            let reporter = ProgressReporter(total: Int64(parts.count))
            DispatchQueue.global().async {
                var sum = 0
                for part in parts {
                    sum += part.reduce(0) { $0 + Int($1) }
                    reporter.add(1)
                }
                promise.succeed(with: sum)
            }
            return Task(promise, reporter: reporter)
        }

        let sum = checksum(of: [Data([1, 2]), Data([3])])
        print(try await sum.value, sum.progress.fractionCompleted)  // 6 1.0
#sourceLocation()
#sourceLocation(file: "Documentation/Deferred.docc/Articles/WatchingProgress.md", line: 89)
        #expect(try await sum.value == 6)
#sourceLocation()
    }

    @Test func `A bar in a terminal`() async throws {
#sourceLocation(file: "Documentation/Deferred.docc/Articles/WatchingProgress.md", line: 109)
        let promise = Task<Void>.Promise()
        let reporter = ProgressReporter(unit: .bytes)
        let task = Task(promise, reporter: reporter)

        task.uponProgress(on: .immediate) { snapshot in
            FileHandle.standardError.write(Data("\r\u{1B}[K\(bar(snapshot))".utf8))
        }
        reporter.report(completed: 512, of: 1024)
        promise.succeed(with: ())
#sourceLocation()
#sourceLocation(file: "Documentation/Deferred.docc/Articles/WatchingProgress.md", line: 120)
        #expect(task.isFilled)
#sourceLocation()
    }

    @Test func `The Foundation tree`() async throws {
#sourceLocation(file: "Documentation/Deferred.docc/Articles/WatchingProgress.md", line: 169)
        let task = Task<Int>.success(1)
        let whole = Progress(totalUnitCount: 4)
        whole.addChild(task.progress, withPendingUnitCount: 3)
        print(whole.fractionCompleted)  // 0.75
#sourceLocation()
#sourceLocation(file: "Documentation/Deferred.docc/Articles/WatchingProgress.md", line: 175)
        #expect(whole.fractionCompleted == 0.75)
#sourceLocation()
    }
}

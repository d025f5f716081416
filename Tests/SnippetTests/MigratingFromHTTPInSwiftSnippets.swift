// swift-format-ignore-file
// Written by Documentation/snippets.py from Documentation/Deferred.docc/Articles/MigratingFromHTTPInSwift.md.

import Deferred
import DeferredCompatibility
import DeferredTesting
import TestSupport
import Testing

@Suite(.ownThread, .timeLimit(.minutes(1)))
struct MigratingFromHTTPInSwiftSnippets {
    @Test func `Overview`() async throws {
#sourceLocation(file: "Documentation/Deferred.docc/Articles/MigratingFromHTTPInSwift.md", line: 13)



        final class PrintLoader: LoaderObject, @unchecked Sendable {
            override func load(task: HTTPTask) {
                print("loading \(task.request)")
                super.load(task: task)
            }
        }
#sourceLocation()
#sourceLocation(file: "Documentation/Deferred.docc/Articles/MigratingFromHTTPInSwift.md", line: 24)
        let chain = joined(PrintLoader(), StubLoader(.response(200)))
        #expect(try await chain.load(HTTPRequest(host: "a")).get().status == 200)
#sourceLocation()
    }

    @Test func `What differs`() async throws {
#sourceLocation(file: "Documentation/Deferred.docc/Articles/MigratingFromHTTPInSwift.md", line: 57)


        struct Printing: HTTPLink {
            func load(_ task: HTTPTask, next: any HTTPLoader) {
                print("loading \(task.request)")
                task.pass(to: next)
            }
        }
#sourceLocation()
#sourceLocation(file: "Documentation/Deferred.docc/Articles/MigratingFromHTTPInSwift.md", line: 67)
        #expect(try await joined(Printing(), StubLoader(.response(200))).load(HTTPRequest(host: "a")).get().status == 200)
#sourceLocation()
    }
}

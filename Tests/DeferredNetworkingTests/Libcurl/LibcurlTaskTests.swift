#if os(Linux)
import CLibcurl
import DeferredCore
import Foundation
import FoundationNetworking
import TestSupport
import Testing

@testable import DeferredNetworking

@Suite("Libcurl task", .ownThread, .timeLimit(.minutes(2)))
struct LibcurlTaskTests {
    /// Creates no tasks.
    private final class IdleEngine: Engine {
        let defaultHeaders: [String: String] = [:]
        let invalidated = Future<Void>.never
        let hasTimeouts = false

        func checkHost(of url: URL) {}
        func makeTask(for request: CheckedRequest, of transfer: Transfer, configure: EngineTaskConfiguration?) {}
        func invalidate() {}
    }

    @Test func `a task that was held once is asked as fast as before, and on a small stack`() async {
        await #expect(processExitsWith: .success) {
            try await LongOperation("isHeld") { events in
                var reason: UnsafePointer<CChar>?
                #expect(libcurl_load(&reason) > 0)
                let url = try #require(URL(string: "http://host/"))
                let request = try CheckedRequest(URLRequest(url: url), for: nil)
                let transfer = Transfer(request, on: EngineLease(IdleEngine()), sink: DataSink { _ in })
                let mailbox = LibcurlMailbox(try LibcurlOptions(URLClient.Configuration()))
                let task = LibcurlTask(1, request, of: transfer, mailbox)
                task.hold { true }
                let isHeld = await onThread(stackSize: 256 << 10) {
                    var isHeld = true
                    for _ in 0..<events.count {
                        isHeld = task.isHeld && isHeld
                        events.note()
                    }
                    return isHeld
                }
                #expect(isHeld)
                mailbox.stop()
                await mailbox.stopped.future.value
            }
            .expectSteadyCost()
        }
    }
}
#endif

#if os(Linux)
import DeferredTesting
import TestSupport
import Testing

@Suite(.ownThread, .timeLimit(.minutes(1)))
struct LoopbackServerInheritanceTests {
    @Test func `a child process inherits nothing of a server`() async {
        await #expect(processExitsWith: .success) {
            let before = inheritedFiles()
            let client = try { () throws -> RawClient in
                let server = try LoopbackServer { _ in [.stall] }
                let client = try RawClient(port: server.port)
                try client.send("GET / HTTP/1.1\r\nHost: a\r\n\r\n")
                while server.openConnectionCount == 0 {}
                // The client's own socket.
                #expect(inheritedFiles().subtracting(before).count == 1)
                server.stop()
                return client
            }()
            withExtendedLifetime(client) {}
        }
    }
}
#endif

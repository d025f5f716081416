#if os(Linux)
import DeferredTesting
import Foundation
import TestSupport
import Testing

@Suite(.ownThread, .timeLimit(.minutes(1)))
struct LoopbackServerInheritanceTests {
    @Test func `a child process inherits nothing of a server`() async {
        await #expect(processExitsWith: .success) {
            let before = try InheritedFiles()
            let client = try { () throws -> RawClient in
                let server = try LoopbackServer { _ in [.stall] }
                let client = try RawClient(port: server.port)
                try client.send("GET / HTTP/1.1\r\nHost: a\r\n\r\n")
                while server.openConnectionCount == 0 {}
                let added = try InheritedFiles().added(since: before)
                #expect(added.count == 1, "The client has one socket: \(added)")
                server.stop()
                return client
            }()
            withExtendedLifetime(client) {}
        }
    }

    @Test func `an inherited file that is renamed or deleted is not a new one`() async {
        await #expect(processExitsWith: .success) {
            let folder = try TemporaryDirectory()
            let path = try folder.write("a", to: "a").path
            let start = try InheritedFiles()
            let descriptor = open(path, O_RDONLY)
            defer { close(descriptor) }
            let before = try InheritedFiles()
            #expect(before.added(since: start) == [path])
            #expect(rename(path, path + "b") == 0)
            #expect(try InheritedFiles().added(since: before) == [])
            #expect(unlink(path + "b") == 0)
            #expect(try InheritedFiles().added(since: before) == [])
        }
    }
}
#endif

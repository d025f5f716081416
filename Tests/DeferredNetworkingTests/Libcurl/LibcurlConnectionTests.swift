#if os(Linux)
import CLibcurl
import DeferredCore
import DeferredTask
import DeferredTesting
import Foundation
import FoundationNetworking
import TestSupport
import Testing

@testable import DeferredNetworking

/// Tests of connections that die in silence, and of names with several addresses.
@Suite("Libcurl: connections", .serialized, .ownThreadInSeries, .timeLimit(.minutes(3)))
struct LibcurlConnectionTests {
    private static func client(_ change: (inout URLClient.Configuration) -> Void = { _ in }) -> URLClient {
        URLClient.fresh {
            $0.engine = .libcurl
            $0.maximumThreads = 1
            change(&$0)
        }
    }

    private static func attempts(_ count: Int) -> URLClient.Retries {
        var retries = URLClient.Retries()
        retries.attempts = count
        retries.base = .zero
        return retries
    }

    private static func port(of server: LoopbackServer) throws -> UInt16 {
        try #require(server.url("/").port.flatMap { UInt16(exactly: $0) })
    }

    // MARK: Dead connections

    @Test func `after a silent time-out, no request gets a connection that was idle meanwhile`() async throws {
        let server = try LoopbackServer { request in
            .response(body: "\(request.connectionNumber)").delayed(by: .milliseconds(request.path == "/slow" ? 100 : 0))
        }
        defer { server.stop() }
        let port = try DyingPort(to: Self.port(of: server))
        let url = try #require(URL(string: "http://127.0.0.1:\(port.number)/slow"))
        let client = Self.client {
            $0.deadlines.idle = .milliseconds(1_500)
            $0.retries = Self.attempts(2)
        }
        let warm = (0..<4).map { _ in client.begin(url) }
        for task in warm { _ = try await task.get() }
        #expect(port.count == 4)
        port.die()
        // The first attempt is lost, and the second has a connection that was made after it.
        #expect(await client.begin(url).ending() == .status(200))
        #expect(port.count == 5)
        #expect(await client.begin(url).ending() == .status(200))
        #expect(port.count == 5)
    }

    @Test func `a connection on which something came meanwhile stays in use`() async throws {
        let server = try LoopbackServer { $0.path == "/never" ? [.stall] : .response(body: "") }
        defer { server.stop() }
        let client = Self.client { $0.deadlines.idle = .milliseconds(1_500) }
        let late = client.begin(server.url("/never"))
        try await eventually { server.requestCount == 1 }
        var count = 1
        while late.peek() == nil {
            _ = try await client.begin(server.url("/")).get()
            count += 1
        }
        _ = try await client.begin(server.url("/")).get()
        #expect(server.connectionCount == 2 && count > 2)
    }

    // MARK: Several addresses

    private static func named(_ server: LoopbackServer, _ addresses: [String]) throws -> (URL, [String: [String]]) {
        let port = try port(of: server)
        return (try #require(URL(string: "http://name.test:\(port)/")), ["Name.test:\(port)": addresses])
    }

    @Test(arguments: [["127.0.0.2", "127.0.0.1"], ["127.0.0.7", "127.0.0.8", "127.0.0.1"], ["::1", "127.0.0.1"]])
    func `an address that is silent or refuses is followed by the next one`(addresses: [String]) async throws {
        let server = try LoopbackServer { _ in .response(body: "here") }
        defer { server.stop() }
        // Nothing listens at the others. Each case has its own, since a silent address is remembered.
        let isSilent = addresses[0] != "::1"
        let silent = try isSilent ? UnansweringPort(at: addresses[0], port: Self.port(of: server)) : nil
        let (url, resolve) = try Self.named(server, addresses)
        let metrics = Log<URLClient.Metrics>()
        let client = Self.client {
            $0.resolve = resolve
            $0.monitor = { event in event.metrics.map { metrics.add($0) } }
        }
        #expect(try await client.begin(url).get().0 == Data("here".utf8))
        #expect(metrics.entries.first?.address == "127.0.0.1:\(try Self.port(of: server))")
        #expect((metrics.entries.first?.connect ?? .zero) >= (isSilent ? AddressRace.headStart : .zero))
        // The next connection doesn't begin with it.
        #expect(NameLookUps.shared.inOrder(addresses).first == (isSilent ? addresses[1] : addresses[0]))
        withExtendedLifetime(silent) {}
    }

    @Test func `a socket that has not connected yet has neither failed nor succeeded`() {
        let socket = connection_socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        defer { close(socket) }
        #expect(socket >= 0 && connection_error(socket) == EINPROGRESS)
    }

    @Test func `a retry begins with an address that the attempt before had no time for`() async throws {
        let server = try LoopbackServer { _ in .response(body: "here") }
        defer { server.stop() }
        let silent = try UnansweringPort(at: "127.0.0.4", port: Self.port(of: server))
        let (url, resolve) = try Self.named(server, ["127.0.0.4", "127.0.0.1"])
        let attempts = Log<Void>()
        let client = Self.client {
            $0.resolve = resolve
            $0.deadlines.connectToHead = AddressRace.headStart / 4
            $0.retries = Self.attempts(20)
            $0.monitor = { event in if case .sent = event.kind { attempts.add(()) } }
        }
        #expect(await client.begin(url).ending() == .status(200))
        #expect(attempts.entries.count >= 2)
        withExtendedLifetime(silent) {}
    }

    @Test func `if all addresses are silent, the request ends at its deadline, and leaves nothing`() async throws {
        let silent = try UnansweringPort(at: "127.0.0.5")
        let second = try UnansweringPort(at: "127.0.0.6", port: silent.number)
        let url = try #require(URL(string: "http://name.test:\(silent.number)/"))
        let client = Self.client {
            $0.resolve = ["name.test:\(silent.number)": ["127.0.0.5", "127.0.0.6"]]
            $0.deadlines.idle = .milliseconds(500)
        }
        let before = Self.connecting(to: silent.number)
        let failure = await client.begin(url).failure() as? URLError
        #expect(failure?.code == .timedOut)
        await client.shutdown().value
        #expect(Self.connecting(to: silent.number) <= before)
        withExtendedLifetime(second) {}
    }

    @Test func `if all addresses refuse, the error says so`() async throws {
        let port = try RefusingPort()
        let url = try #require(URL(string: "http://name.test:\(port.number)/"))
        let client = Self.client { $0.resolve = ["name.test:\(port.number)": ["127.0.0.1", "127.0.0.2"]] }
        let failure = await client.begin(url).failure() as? URLError
        #expect(failure?.code == .cannotConnectToHost)
        #expect(
            failure?.localizedDescription == "Failed to connect to name.test port \(port.number): Connection refused"
        )
    }

    @Test func `one static address is used for literal hosts as well, and kept connections need none`() async throws {
        let server = try LoopbackServer { request in .response(body: .text(request.headers["Host"] ?? "")) }
        defer { server.stop() }
        let port = try Self.port(of: server)
        let client = Self.client { $0.resolve = ["192.0.2.1:\(port)": ["127.0.0.1"]] }
        let url = try #require(URL(string: "http://192.0.2.1:\(port)/"))
        for _ in 0..<3 { #expect(try await client.begin(url).get().0 == Data("192.0.2.1:\(port)".utf8)) }
        #expect(server.connectionCount == 1)
    }

    @Test(arguments: [
        "a.test", "a.test:x", ":80", "a.test:0", "a:b:80", "*:7701", "-a.test:80", "+a.test:80", "a\nb:80", "a b:80",
        "a,b:80", "[::1]:80", "bücher.test:80",
    ])
    func `what is no host and port is refused`(key: String) async {
        let client = Self.client { $0.resolve = [key: ["127.0.0.1"]] }
        let error = await client.begin(URL(filePath: "/")).failure() as? URLClientError
        guard case .engineUnavailable(let reason) = error?.code else { return #expect(Bool(false), "\(key)") }
        #expect(reason == "resolve: \(DisplayText.quoted(key)) is not a host and a port, as in \"example.com:443\"")
    }

    @Test(arguments: [
        ("[::1]", "\"[::1]\" is not an IPv4 or IPv6 address; write it without brackets"),
        ("localhost", "\"localhost\" is not an IPv4 or IPv6 address"),
        (nil, "\"my_host-1.test:80\" has no address; add one, or leave the entry out"),
    ])
    func `what is no address is refused`(address: String?, expected: String) {
        #expect(throws: URLClientError.engineUnavailable(reason: "resolve: " + expected)) {
            try StaticAddresses.checked(["my_host-1.test:80": address.map { [$0] } ?? []])
        }
    }

    @Test func `some descriptors are left to the rest of the process`() async {
        await #expect(processExitsWith: .success) {
            var limit = rlimit()
            getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
            // AddressSanitizer's search for leaks, at the end, needs descriptors as well.
            defer { setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) }
            let last = (0..<1024).last { fcntl(Int32($0), F_GETFD) != -1 } ?? 0
            var few = limit
            few.rlim_cur = rlim_t(last + 40)
            setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &few)
            var highest: Int32 = -1
            while case let socket = connection_socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0), socket >= 0 {
                highest = max(highest, socket)
            }
            let error = errno
            // Not all 16: the runtime's threads come and go with some, and libdispatch ends a process that has none.
            let spare = (0..<8).count { _ in open("/dev/null", O_RDONLY) >= 0 }
            #expect(error == EMFILE)
            #expect(highest > last && highest < Int32(few.rlim_cur) - 16)
            #expect(spare == 8)
        }
    }

    /// The number of sockets of this machine that are connecting to a port.
    private static func connecting(to port: UInt16) -> Int {
        let suffix = ":" + String(port, radix: 16, uppercase: true)
        let lines = (try? String(contentsOfFile: "/proc/self/net/tcp", encoding: .utf8))?.split(separator: "\n") ?? []
        return lines.count { line in
            let fields = line.split(separator: " ")
            // SYN_SENT, of sockets that are open. Those that fill the port's queue are, too.
            return fields.count > 9 && fields[2].hasSuffix(suffix) && fields[3] == "02" && fields[9] != "0"
        }
    }

    // MARK: Stopped processes

    @Test func `an answer that has come in time is read before a deadline is judged`() async throws {
        let port = try PromptedPort()
        let server = try LoopbackServer { _ in .response(body: "") }
        defer { server.stop() }
        let (held, free, answering) = (Deferred<Void>(), DispatchSemaphore(value: 0), server.url("/"))
        let client = Self.client {
            $0.deadlines.idle = .milliseconds(600)
            $0.monitor = { event in
                // On the engine's thread, which thus reads nothing, like that of a process that was stopped.
                guard case .response = event.kind, event.original.url == answering, held.fill(with: ())
                else {
                    return
                }
                free.wait()
            }
        }
        let task = client.begin(port.url)
        port.receiveRequest()
        let other = client.begin(answering)
        await held.value
        port.send("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")
        // Ends by itself at the deadline, if at all.
        try await _Concurrency.Task.sleep(for: .milliseconds(800))
        free.signal()
        #expect(await task.ending() == .status(200))
        _ = await other.result
    }
}
#endif

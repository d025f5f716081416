import DeferredCore
package import Foundation

#if canImport(Glibc)
private let streamSocket = Int32(SOCK_STREAM.rawValue)
#else
private let streamSocket = SOCK_STREAM
#endif

/// A port of 127.0.0.1 that refuses connections: a socket is bound to it, so that nobody else can take it, but does not
/// listen.
package final class RefusingPort {
    package let number: UInt16
    private let socket: Int32

    package init() throws {
        var address = sockaddr_in()
        socket = try boundSocket(at: &address)
        number = UInt16(bigEndian: address.sin_port)
    }

    deinit {
        close(socket)
    }
}

/// A port of a loopback address on which connecting never ends: it listens, but its queue of connections is full.
package final class UnansweringPort {
    package let number: UInt16
    private var sockets: [Int32] = []

    /// - Parameter port: 0 for a free one.
    package init(at host: String = "127.0.0.1", port: UInt16 = 0) throws {
        var address = sockaddr_in()
        // Darwin takes 0 for as many as it allows.
        #if canImport(Darwin)
        let listener = try listeningSocket(at: &address, host, port, backlog: 1)
        #else
        let listener = try listeningSocket(at: &address, host, port, backlog: 0)
        #endif
        let length = socklen_t(MemoryLayout<sockaddr_in>.size)
        sockets = [listener]
        number = UInt16(bigEndian: address.sin_port)
        for _ in 0..<4 {
            let filler = socket(AF_INET, streamSocket, 0)
            _ = fcntl(filler, F_SETFL, O_NONBLOCK)
            withUnsafePointer(to: &address) { pointer in
                pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { _ = connect(filler, $0, length) }
            }
            sockets.append(filler)
        }
    }

    deinit {
        for socket in sockets { close(socket) }
    }
}

/// A port of 127.0.0.1 that receives the first bytes of a connection and ends it, like a server that crashes during
/// the TLS handshake.
package final class HandshakeCuttingPort {
    package let number: UInt16
    private let listener: Int32

    /// - Parameter isReset: True to end connections with an error instead of an orderly end of stream.
    package init(isReset: Bool) throws {
        var address = sockaddr_in()
        let listener = try listeningSocket(at: &address, backlog: 64)
        self.listener = listener
        number = UInt16(bigEndian: address.sin_port)
        Thread.detachNewThread {
            var bytes = [UInt8](repeating: 0, count: 4_096)
            while true {
                let connection = accept(listener, nil, nil)
                guard connection >= 0 else { break }
                _ = recv(connection, &bytes, bytes.count, 0)
                if isReset {
                    var option = linger(l_onoff: 1, l_linger: 0)
                    setsockopt(connection, SOL_SOCKET, SO_LINGER, &option, socklen_t(MemoryLayout<linger>.size))
                }
                close(connection)
            }
            close(listener)
        }
    }

    deinit {
        // Ends the thread, which closes the listener.
        shutdown(listener, Int32(SHUT_RDWR))
    }
}

/// A port of 127.0.0.1 that answers one request with what a test says, when it says so.
///
/// For tests in which time must not pass between two pieces of a response unless the test lets it.
package final class PromptedPort {
    package let number: UInt16
    private let listener: Int32
    private var connection: Int32 = -1

    package var url: URL { URL(string: "http://127.0.0.1:\(number)/") ?? URL(filePath: "/") }

    package init() throws {
        var address = sockaddr_in()
        listener = try listeningSocket(at: &address, backlog: 1)
        number = UInt16(bigEndian: address.sin_port)
        // A client that has gone fails its test, instead of ending the process.
        signal(SIGPIPE, SIG_IGN)
    }

    deinit {
        close(listener)
        closeConnection()
    }

    /// Closes the connection. The system resets it, if something that was received has not been read.
    package func closeConnection() {
        if connection >= 0 { close(connection) }
        connection = -1
    }

    /// Returns a socket that is connected to the port, for the caller to close.
    package func connectedSocket() -> Int32 {
        loopbackSocket(connectedTo: number)
    }

    /// Blocks until a client connects.
    package func acceptConnection() {
        connection = accept(listener, nil, nil)
    }

    /// Blocks until this number of bytes has arrived.
    package func receive(_ count: Int) {
        var (rest, bytes) = (count, [UInt8](repeating: 0, count: 4_096))
        while rest > 0, case let some = recv(connection, &bytes, min(rest, bytes.count), 0), some > 0 { rest -= some }
    }

    /// Blocks until the head of a request has arrived.
    package func receiveRequest() {
        acceptConnection()
        var (head, byte) = ([UInt8](), UInt8(0))
        while !head.suffix(4).elementsEqual("\r\n\r\n".utf8), recv(connection, &byte, 1, 0) == 1 { head.append(byte) }
    }

    /// Sends bytes that fit into the system's buffers.
    package func send(_ bytes: some Collection<UInt8>) {
        let bytes = Array(bytes)
        _ = write(connection, bytes, bytes.count)
    }

    /// Sends a text that fits into the system's buffers.
    package func send(_ text: String) { send(text.utf8) }
}

#if os(Linux)
/// A proxy at a port of 127.0.0.1, which connects to the ports that requests name, and keeps their heads.
package final class TunnelPort {
    package let number: UInt16
    package let heads: Log<String>
    private let listener: Int32

    /// - Parameter cutsAfter: The number of a server's bytes after which a connection is closed.
    package init(cutsAfter limit: Int = .max) throws {
        var address = sockaddr_in()
        let (listener, heads) = (try listeningSocket(at: &address, backlog: 64), Log<String>())
        (self.listener, self.heads, number) = (listener, heads, UInt16(bigEndian: address.sin_port))
        Thread.detachNewThread {
            while case let client = accept(listener, nil, nil), client >= 0 {
                Thread.detachNewThread { Self.serve(client, heads, limit) }
            }
            close(listener)
        }
    }

    deinit {
        // Ends the thread, which closes the listener.
        shutdown(listener, Int32(SHUT_RDWR))
    }

    private static func serve(_ client: Int32, _ heads: Log<String>, _ limit: Int) {
        defer { close(client) }
        var (head, byte) = ([UInt8](), UInt8(0))
        while !head.suffix(4).elementsEqual("\r\n\r\n".utf8), recv(client, &byte, 1, 0) == 1 { head.append(byte) }
        let text = String(decoding: head, as: UTF8.self)
        heads.add(text)
        let target = text.split(separator: " ").dropFirst().first?.split(separator: ":").last
        guard let port = target.flatMap({ UInt16($0) }) else { return }
        let server = loopbackSocket(connectedTo: port)
        defer { close(server) }
        guard send(client, "HTTP/1.1 200 OK\r\n\r\n", 19, flags) == 19 else { return }
        var (rest, bytes) = (limit, [UInt8](repeating: 0, count: 4_096))
        while rest > 0 {
            var ends = [client, server].map { pollfd(fd: $0, events: Int16(POLLIN), revents: 0) }
            guard poll(&ends, 2, -1) > 0 else { return }
            for (from, to) in [(0, server), (1, client)] where ends[from].revents != 0 {
                let count = recv(ends[from].fd, &bytes, bytes.count, 0)
                guard count > 0, send(to, bytes, count, flags) == count else { return }
                if from == 1 { rest -= count }
            }
        }
    }

    private static let flags = Int32(MSG_NOSIGNAL)
}
#endif

#if os(Linux)
/// A port of 127.0.0.1 that passes on bytes to another one, and whose connections can die in silence: then nothing that comes
/// on them is passed on, or answered by an end.
package final class DyingPort {
    package let number: UInt16

    /// The number of connections so far.
    package var count: Int { state.lock.withLock { $0.count } }

    private let listener: Int32
    private let state = State()

    private final class State: Sendable {
        let lock = Lock(Counts())
    }

    private struct Counts {
        var count = 0
        var deadCount = 0
    }

    package init(to port: UInt16) throws {
        var address = sockaddr_in()
        let listener = try listeningSocket(at: &address, backlog: 64)
        self.listener = listener
        number = UInt16(bigEndian: address.sin_port)
        Thread.detachNewThread { [state] in
            while case let client = accept(listener, nil, nil), client >= 0 {
                let number = state.lock.withLock { counts in
                    counts.count += 1
                    return counts.count
                }
                let server = loopbackSocket(connectedTo: port)
                for (from, to) in [(client, server), (server, client)] {
                    Thread.detachNewThread {
                        Self.pass(from, to) { state.lock.withLock { number <= $0.deadCount } }
                    }
                }
            }
            close(listener)
        }
    }

    deinit {
        // Ends the thread, which closes the listener.
        shutdown(listener, Int32(SHUT_RDWR))
    }

    /// Lets all connections that are there die. Later ones live.
    package func die() {
        state.lock.withLock { $0.deadCount = $0.count }
    }

    /// The sockets are never closed: their numbers could be used for others meanwhile, and a test has few of them.
    private static func pass(_ from: Int32, _ to: Int32, isDead: () -> Bool) {
        var bytes = [UInt8](repeating: 0, count: 16_384)
        while case let count = recv(from, &bytes, bytes.count, 0), count > 0 {
            if isDead() { continue }
            guard send(to, bytes, count, Int32(MSG_NOSIGNAL)) == count else { break }
        }
        if !isDead() { shutdown(to, Int32(SHUT_WR)) }
    }
}
#endif

/// Returns a socket, which is connected if something listens at a port of 127.0.0.1.
private func loopbackSocket(connectedTo port: UInt16) -> Int32 {
    let result = socket(AF_INET, streamSocket, 0)
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_addr.s_addr = inet_addr("127.0.0.1")
    address.sin_port = port.bigEndian
    withUnsafePointer(to: &address) { pointer in
        pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
            _ = connect(result, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
        }
    }
    return result
}

/// Creates a socket that listens, on a free port for 0, and stores its address in `address`.
func listeningSocket(
    at address: inout sockaddr_in,
    _ host: String = "127.0.0.1",
    _ port: UInt16 = 0,
    backlog: Int32
) throws -> Int32 {
    let listener = try boundSocket(at: &address, host, port)
    guard listen(listener, backlog) == 0 else {
        close(listener)
        throw CocoaError(.fileReadUnknown)
    }
    return listener
}

/// Creates a socket at a port, a free one for 0, and stores its address in `address`.
private func boundSocket(
    at address: inout sockaddr_in,
    _ host: String = "127.0.0.1",
    _ port: UInt16 = 0
) throws -> Int32 {
    let bound = socket(AF_INET, streamSocket, 0)
    address.sin_family = sa_family_t(AF_INET)
    address.sin_addr.s_addr = inet_addr(host)
    address.sin_port = port.bigEndian
    var length = socklen_t(MemoryLayout<sockaddr_in>.size)
    let hasPort = withUnsafeMutablePointer(to: &address) { pointer in
        pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
            bind(bound, $0, length) == 0 && getsockname(bound, $0, &length) == 0
        }
    }
    guard hasPort else {
        close(bound)
        throw CocoaError(.fileReadUnknown)
    }
    return bound
}

#if canImport(Darwin)
import Darwin
#elseif canImport(Musl)
import Musl
#elseif canImport(Android)
import Android
#else
import Glibc
#endif

/// A TCP connection to a port on 127.0.0.1 that exposes every byte and every error unchanged.
final class RawClient {
    struct Failure: Error, Equatable {
        let code: Int32
    }

    private let descriptor: Int32

    init(port: UInt16, sendTimeout: Duration = .seconds(60)) throws {
        #if canImport(Glibc)
        descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        #else
        descriptor = socket(AF_INET, SOCK_STREAM, 0)
        #endif
        #if canImport(Darwin)
        // There is no flag of `send` for that.
        var isSilent: Int32 = 1
        setsockopt(descriptor, SOL_SOCKET, SO_NOSIGPIPE, &isSilent, socklen_t(MemoryLayout<Int32>.size))
        #endif
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = port.bigEndian
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        // A test that waits in vain has to fail instead of hanging.
        var limit = timeval(tv_sec: 60, tv_usec: 0)
        setsockopt(descriptor, SOL_SOCKET, SO_RCVTIMEO, &limit, socklen_t(MemoryLayout<timeval>.size))
        let sendLimit = sendTimeout.components
        limit = timeval(tv_sec: Int(sendLimit.seconds), tv_usec: .init(sendLimit.attoseconds / 1_000_000_000_000))
        setsockopt(descriptor, SOL_SOCKET, SO_SNDTIMEO, &limit, socklen_t(MemoryLayout<timeval>.size))
        let result = withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
        guard result == 0 else { throw Failure(code: errno) }
    }

    deinit { close(descriptor) }

    func send(_ text: String) throws {
        try send(Array(text.utf8))
    }

    func send(_ bytes: [UInt8]) throws {
        var sent = 0
        while sent < bytes.count {
            #if canImport(Darwin)
            let flags: Int32 = 0
            #else
            let flags = Int32(MSG_NOSIGNAL)
            #endif
            let count = bytes[sent...].withUnsafeBytes { systemSend(descriptor, $0.baseAddress, $0.count, flags) }
            guard count > 0 else { throw Failure(code: errno) }
            sent += count
        }
    }

    /// Returns the next bytes, at most `limit`; empty at the end of the stream.
    func receive(atMost limit: Int = 65_536) throws -> [UInt8] {
        var bytes = [UInt8](repeating: 0, count: limit)
        let count = recv(descriptor, &bytes, limit, 0)
        guard count >= 0 else { throw Failure(code: errno) }
        return Array(bytes.prefix(count))
    }

    /// Returns exactly `count` bytes, or fewer at the end of the stream, as text.
    func receive(exactly count: Int) throws -> String {
        var bytes: [UInt8] = []
        while bytes.count < count, case let more = try receive(atMost: count - bytes.count), !more.isEmpty {
            bytes += more
        }
        return String(decoding: bytes, as: UTF8.self)
    }

    /// Returns everything up to the end of the stream.
    func receiveAllBytes() throws -> [UInt8] {
        var bytes: [UInt8] = []
        while case let more = try receive(), !more.isEmpty { bytes += more }
        return bytes
    }

    /// Returns everything up to the end of the stream, as text.
    func receiveAll() throws -> String {
        String(decoding: try receiveAllBytes(), as: UTF8.self)
    }

    /// Returns a response's head, without the empty line. Its body is left to be received.
    func receiveHead() throws -> String {
        var text = ""
        while !text.hasSuffix("\r\n\r\n"), case let more = try receive(exactly: 1), !more.isEmpty { text += more }
        return String(text.dropLast())
    }

    /// Returns the error that ends the stream, `nil` for an orderly end, with everything received before it.
    func receiveUntilError() -> (bytes: [UInt8], failure: Int32?) {
        var bytes: [UInt8] = []
        do {
            while case let more = try receive(), !more.isEmpty { bytes += more }
            return (bytes, nil)
        } catch {
            return (bytes, (error as? Failure)?.code)
        }
    }

    func finishSending() {
        _ = shutdown(descriptor, Int32(SHUT_WR))
    }

    static let connectionReset = Failure(code: ECONNRESET)
    static let connectionRefused = Failure(code: ECONNREFUSED)
    static let addressInUse = EADDRINUSE
    static let timedOut = EAGAIN
}

/// Calls `send(2)`, whose name is hidden inside a type with a method `send`.
private func systemSend(_ descriptor: Int32, _ bytes: UnsafeRawPointer?, _ count: Int, _ flags: Int32) -> Int {
    send(descriptor, bytes, count, flags)
}

import Foundation

/// The address at which a socket listens.
enum SocketAddress: Sendable {
    /// A TCP port on 127.0.0.1; 0 for any free one.
    case port(UInt16)

    /// Any free TCP port on `[::1]`.
    case portOverIPv6

    /// A Unix domain socket, which is created in the file system.
    case path(String)
}

/// A socket for connections within the machine. Its owner closes it, once.
///
/// No call blocks: a call that would have to wait returns `nil` or 0. Only `wait(for:until:orUntil:)` waits.
struct Socket: Sendable {
    let descriptor: Int32

    /// Creates a socket that listens at `address`, with a backlog of 1,024 connections; its port is 0 if it has a path.
    static func listening(at address: SocketAddress) throws(SystemError) -> (Socket, UInt16) {
        let socket: Socket
        let bound: Int32
        switch address {
        case .port(let port):
            socket = try Socket.make(AF_INET)
            socket.enable(SO_REUSEADDR, at: SOL_SOCKET)
            var address = sockaddr_in()
            address.sin_family = sa_family_t(AF_INET)
            address.sin_port = port.bigEndian
            address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
            bound = socket.bind(to: &address)
        case .portOverIPv6:
            socket = try Socket.make(AF_INET6)
            var address = sockaddr_in6()
            address.sin6_family = sa_family_t(AF_INET6)
            inet_pton(AF_INET6, "::1", &address.sin6_addr)
            bound = socket.bind(to: &address)
        case .path(let path):
            var address = sockaddr_un()
            address.sun_family = sa_family_t(AF_UNIX)
            // One byte is reserved for the terminating zero.
            guard path.utf8.count < MemoryLayout.size(ofValue: address.sun_path) else {
                throw SystemError(code: ENAMETOOLONG)
            }
            withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path.utf8) }
            socket = try Socket.make(AF_UNIX)
            bound = socket.bind(to: &address)
        }
        guard bound == 0, listen(socket.descriptor, 1_024) == 0, let port = socket.localPort(of: address) else {
            let error = SystemError.current
            socket.close()
            throw error
        }
        return (socket, port)
    }

    private func bind<Address>(to address: inout Address) -> Int32 {
        withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                Foundation.bind(descriptor, $0, socklen_t(MemoryLayout<Address>.size))
            }
        }
    }

    /// Returns the port that this socket is bound to, 0 for a socket with a path, or nil with the reason in `errno`.
    private func localPort(of address: SocketAddress) -> UInt16? {
        if case .path = address { return 0 }
        // The port has the same place in the addresses of both versions.
        var bound = sockaddr_in6()
        var size = socklen_t(MemoryLayout<sockaddr_in6>.size)
        let result = withUnsafeMutablePointer(to: &bound) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { getsockname(descriptor, $0, &size) }
        }
        return result == 0 ? UInt16(bigEndian: bound.sin6_port) : nil
    }

    /// Accepts the next connection; returns `nil` when none is waiting.
    func accept() throws(SystemError) -> Socket? {
        guard let accepted = try Socket.retrying({ self.acceptDescriptor() }) else { return nil }
        let socket = Socket(descriptor: Int32(accepted))
        socket.enable(Int32(TCP_NODELAY), at: Int32(IPPROTO_TCP))
        return socket
    }

    /// Returns up to `limit` bytes that have arrived; empty at the end of the stream, `nil` when there is nothing yet.
    func receive(atMost limit: Int) throws(SystemError) -> [UInt8]? {
        var bytes = [UInt8](repeating: 0, count: limit)
        guard let count = try Socket.retrying({ recv(descriptor, &bytes, limit, 0) }) else {
            return nil
        }
        bytes.removeLast(limit - count)
        return bytes
    }

    /// Hands bytes to the system and returns the number that it accepted.
    func send(_ bytes: UnsafeRawBufferPointer) throws(SystemError) -> Int {
        try Socket.retrying { Foundation.send(descriptor, bytes.baseAddress, bytes.count, Socket.sendFlags) } ?? 0
    }

    /// Tells the peer that nothing more will be sent; its bytes can still be received.
    func finishSending() {
        _ = shutdown(descriptor, Int32(SHUT_WR))
    }

    /// Makes `close()` send RST and discard undelivered bytes.
    func resetOnClose() {
        var option = linger(l_onoff: 1, l_linger: 0)
        setsockopt(descriptor, SOL_SOCKET, SO_LINGER, &option, socklen_t(MemoryLayout<linger>.size))
    }

    func close() {
        _ = Foundation.close(descriptor)
    }

    /// Repeats an interrupted call; `nil` when it would block.
    private static func retrying(_ call: () -> Int) throws(SystemError) -> Int? {
        while true {
            let result = call()
            if result >= 0 { return result }
            let error = SystemError.current
            if error.meansWouldBlock { return nil }
            if !error.meansInterrupted { throw error }
        }
    }
}

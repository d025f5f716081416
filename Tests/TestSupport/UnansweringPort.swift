import Foundation

/// A port of 127.0.0.1 on which connecting never ends: somebody listens, but the queue of connections is full.
package final class UnansweringPort {
    package let number: UInt16
    private var sockets: [Int32] = []

    package init() throws {
        let listener = Self.makeSocket()
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = inet_addr("127.0.0.1")
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let isListening = withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(listener, $0, length) == 0 && listen(listener, 0) == 0 && getsockname(listener, $0, &length) == 0
            }
        }
        sockets = [listener]
        number = UInt16(bigEndian: address.sin_port)
        guard isListening else { throw CocoaError(.fileReadUnknown) }
        for _ in 0..<4 {
            let filler = Self.makeSocket()
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

    private static func makeSocket() -> Int32 {
        #if canImport(Glibc)
        socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        #else
        socket(AF_INET, SOCK_STREAM, 0)
        #endif
    }
}

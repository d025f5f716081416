import Foundation

/// Where text for people goes.
protocol TextOutput: Sendable {
    func write(_ text: String)
}

/// Standard output or standard error, unbuffered, so that lines of the two keep their order.
struct StandardStream: TextOutput {
    static let output = StandardStream(descriptor: STDOUT_FILENO)
    static let error = StandardStream(descriptor: STDERR_FILENO)

    let descriptor: Int32

    /// Writes all of `text`. What a closed descriptor doesn't take is lost: there is nobody left to tell.
    func write(_ text: String) {
        var rest = Array(text.utf8)[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { Foundation.write(descriptor, $0.baseAddress, $0.count) }
            if count > 0 {
                rest = rest.dropFirst(count)
            } else if errno == EAGAIN {
                var descriptors = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
                _ = poll(&descriptors, 1, -1)
            } else if errno != EINTR {
                return
            }
        }
    }
}

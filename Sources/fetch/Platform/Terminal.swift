import Dispatch
import Foundation

/// Access to the terminal, or to the files and pipes in its place.
enum Terminal {
    /// The current size of the terminal on standard output; nil if that is not a terminal.
    static var size: (columns: Int, rows: Int)? {
        guard isatty(STDOUT_FILENO) == 1 else { return nil }
        var window = winsize()
        guard ioctl(STDOUT_FILENO, UInt(TIOCGWINSZ), &window) == 0, window.ws_col > 0, window.ws_row > 0 else {
            return (80, 24)
        }
        return (Int(window.ws_col), Int(window.ws_row))
    }

    /// Takes the numbers of standard files that are closed, so that no file that is opened later gets what is printed.
    /// Writing fails still.
    static func reserveStandardFiles() {
        for number in STDIN_FILENO...STDERR_FILENO where fcntl(number, F_GETFD) < 0 { _ = open("/dev/null", O_RDONLY) }
    }

    /// Writes all of `text`, unbuffered and in order.
    ///
    /// - Returns: the error number of a failure, which loses the rest of the text.
    @discardableResult
    static func write(_ text: String, to descriptor: Int32) -> Int32? { write(Data(text.utf8), to: descriptor) }

    /// Writes all of `bytes`. See ``write(_:to:)-(String,_)``.
    @discardableResult
    static func write(_ bytes: Data, to descriptor: Int32) -> Int32? {
        var rest = bytes
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { Foundation.write(descriptor, $0.baseAddress, $0.count) }
            if count > 0 {
                rest = rest.dropFirst(count)
            } else if errno == EAGAIN {
                var descriptors = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
                _ = poll(&descriptors, 1, -1)
            } else if errno != EINTR {
                return errno
            }
        }
        return nil
    }

    /// Calls `handler` for each of these signals, instead of the signal's default action.
    ///
    /// - Returns: nil if the signal is ignored, by nohup or by a shell that runs this in the background. It stays so.
    @MainActor
    static func onSignal(_ number: Int32, _ handler: @escaping @MainActor () -> Void) -> (any DispatchSourceSignal)? {
        // On Darwin, the source only sees signals that would not end the process.
        let inherited = signal(number, SIG_IGN)
        guard unsafeBitCast(inherited, to: Int.self) != unsafeBitCast(SIG_IGN, to: Int.self) else { return nil }
        let source = DispatchSource.makeSignalSource(signal: number, queue: .main)
        source.setEventHandler { MainActor.assumeIsolated { handler() } }
        source.resume()
        return source
    }
}

import Foundation

/// The two ends of a new pseudo-terminal.
struct TerminalPair {
    struct Failure: Error {
        let code: Int32
    }

    /// The end that a test reads from.
    let controller: Int32

    /// The end that a child process uses as its terminal.
    let child: Int32

    #if canImport(Darwin)
    init() throws {
        var (controller, child): (Int32, Int32) = (-1, -1)
        guard openpty(&controller, &child, nil, nil, nil) == 0 else { throw Failure(code: errno) }
        (self.controller, self.child) = (controller, child)
    }
    #else
    /// Linux declares `posix_openpt` and its companions, but Swift doesn't see them; these are the underlying calls.
    init() throws {
        let (unlock, getNumber): (UInt, UInt) = (0x4004_5431, 0x8004_5430)
        controller = open("/dev/ptmx", O_RDWR | O_NOCTTY | O_CLOEXEC)
        guard controller >= 0 else { throw Failure(code: errno) }
        var (locked, number): (Int32, Int32) = (0, -1)
        guard ioctl(controller, unlock, &locked) == 0, ioctl(controller, getNumber, &number) == 0 else {
            throw Failure(code: errno)
        }
        child = open("/dev/pts/\(number)", O_RDWR | O_NOCTTY | O_CLOEXEC)
        guard child >= 0 else { throw Failure(code: errno) }
    }
    #endif
}

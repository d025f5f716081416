import Foundation

/// The terminal behind a descriptor, if there is one.
struct Terminal: Sendable {
    struct Size: Equatable {
        var columns: Int
        var rows: Int
    }

    static let standardOutput = Terminal(descriptor: STDOUT_FILENO)

    let descriptor: Int32

    var isTerminal: Bool { isatty(descriptor) == 1 }

    /// The size at this moment: asked anew before each redraw, it follows every resize.
    var size: Size {
        var window = winsize()
        guard ioctl(descriptor, UInt(TIOCGWINSZ), &window) == 0, window.ws_col > 0, window.ws_row > 0 else {
            return Size(columns: 80, rows: 24)
        }
        return Size(columns: Int(window.ws_col), rows: Int(window.ws_row))
    }
}

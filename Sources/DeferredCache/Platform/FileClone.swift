internal import Foundation

/// Copies of files that share their blocks on disk until one of them is changed.
enum FileClone {
    /// Makes an empty file a clone of another one; returns false if the file system can't, or if they are not on the same one.
    ///
    /// Elsewhere than on Linux, only a new file can be a clone: https://www.manpagez.com/man/2/fclonefileat/.
    static func clone(_ source: Int32, to destination: Int32) -> Bool {
        #if os(Linux)
        // FICLONE, a macro that Swift can't see: https://man7.org/linux/man-pages/man2/ioctl_ficlone.2.html.
        ioctl(destination, 0x4004_9409, source) == 0
        #else
        false
        #endif
    }
}

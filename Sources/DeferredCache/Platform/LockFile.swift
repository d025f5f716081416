internal import Foundation

/// Locks between processes, and a field of `stat` whose name differs.
enum LockFile {
    /// Locks a file, and returns false if another process has locked it. On platforms that kill a process for being
    /// suspended with a lock on a shared file, each process is alone: https://developer.apple.com/library/archive/technotes/tn2408.
    static func lock(_ descriptor: Int32) -> Bool {
        #if os(iOS) || os(tvOS) || os(watchOS) || os(visionOS)
        true
        #else
        flock(descriptor, LOCK_EX | LOCK_NB) == 0
        #endif
    }
}

extension stat {
    var modificationTime: timespec {
        #if canImport(Darwin)
        st_mtimespec
        #else
        st_mtim
        #endif
    }
}

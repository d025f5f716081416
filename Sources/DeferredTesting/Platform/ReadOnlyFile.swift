#if canImport(Darwin)
import Darwin
#elseif canImport(Musl)
import Musl
#elseif canImport(Android)
import Android
#else
import Glibc
#endif

/// An open file that is read at given offsets. It is closed when its last reference is released.
final class ReadOnlyFile {
    private let descriptor: Int32

    init(path: String) throws(SystemError) {
        descriptor = open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { throw .current }
    }

    deinit {
        if descriptor >= 0 { close(descriptor) }
    }

    /// Returns up to `limit` bytes from `offset`; empty at the end of the file.
    func read(atMost limit: Int, from offset: Int) throws(SystemError) -> [UInt8] {
        var bytes = [UInt8](repeating: 0, count: limit)
        while true {
            let count = pread(descriptor, &bytes, limit, off_t(offset))
            if count >= 0 { return Array(bytes.prefix(count)) }
            let error = SystemError.current
            if !error.meansInterrupted { throw error }
        }
    }
}

#if os(Linux)
import Foundation

/// What a child process inherits from this one beside the standard streams: what each descriptor stands for, such as
/// `socket:[1234]` or the path of a file.
///
/// Meaningful only in a separate process: make it in an exit test. Such a process has inherited something itself, from
/// the one that runs all tests: compare with what there was before.
package struct InheritedFiles {
    private var files: [String: String] = [:]

    /// Looks at what a child process inherits now.
    package init() throws {
        let script = """
            for file in /proc/$$/fd/*; do
                case ${file##*/} in 0|1|2) ;; *) printf '%s ' ${file##*/}; readlink $file || echo ;; esac
            done
            """
        guard let pipe = popen(script, "r") else { throw POSIXError(.init(rawValue: errno) ?? .ECHILD) }
        defer { pclose(pipe) }
        var line = [CChar](repeating: 0, count: 4_096)
        while fgets(&line, CInt(line.count), pipe) != nil {
            let text = String(decoding: line.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self)
            let parts = text.dropLast().split(separator: " ", maxSplits: 1).map(String.init)
            // What the shell itself reads the directory with is gone by now, and has no second part.
            if parts.count == 2 { files[parts[0]] = parts[1] }
        }
    }

    /// Returns what has become inheritable since then.
    ///
    /// Descriptors are compared, not what they stand for: another process may delete or rename a file.
    package func added(since earlier: InheritedFiles) -> Set<String> {
        Set(files.filter { earlier.files[$0.key] == nil }.values)
    }
}
#endif

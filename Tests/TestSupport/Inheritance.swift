#if os(Linux)
import Foundation

/// Returns what a child process inherits from this one beside the standard streams, such as `socket:[1234]` or the path
/// of a file; nothing where that cannot be read.
///
/// Meaningful only in a separate process: call it in an exit test.
package func inheritedFiles() -> Set<String> {
    let script = "for file in /proc/$$/fd/*; do case ${file##*/} in 0|1|2) ;; *) readlink $file ;; esac; done"
    guard let pipe = popen(script, "r") else { return [] }
    defer { pclose(pipe) }
    var (files, line) = (Set<String>(), [CChar](repeating: 0, count: 4_096))
    while fgets(&line, CInt(line.count), pipe) != nil {
        let text = String(decoding: line.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self)
        files.insert(text.trimmingCharacters(in: .newlines))
    }
    return files
}
#endif

import Deferred
import Foundation

/// A terminal for a child process, with the output of the child.
final class PseudoTerminal: Sendable {
    private struct State {
        var text = ""
        var waiting: [(text: String, promise: Deferred<Bool>)] = []
        var hasEnded = false
    }

    /// The child's end. Close it here once the child has opened it.
    let child: FileHandle

    private let descriptor: Int32
    private let state = Lock(State())

    init(columns: UInt16, rows: UInt16 = 24) throws {
        let pair = try TerminalPair()
        descriptor = pair.controller
        child = FileHandle(fileDescriptor: pair.child, closeOnDealloc: true)
        resize(columns: columns, rows: rows)
    }

    deinit { close(descriptor) }

    func resize(columns: UInt16, rows: UInt16 = 24) {
        var size = winsize(ws_row: rows, ws_col: columns, ws_xpixel: 0, ws_ypixel: 0)
        _ = ioctl(descriptor, UInt(TIOCSWINSZ), &size)
    }

    /// The output so far.
    var text: String { state.withLock { $0.text } }

    /// Starts to read. The thread ends when no process has the child's end open any more.
    func read() {
        try? child.close()
        Thread.detachNewThread { [self] in
            var buffer = [UInt8](repeating: 0, count: 65_536)
            var unread: [UInt8] = []
            while true {
                let count = Foundation.read(descriptor, &buffer, buffer.count)
                guard count > 0 else { break }
                unread += buffer[..<count]
                // A character may have been cut in two.
                guard let text = String(validating: unread, as: UTF8.self) else { continue }
                unread = []
                append(text)
            }
            let waiting = state.withLock { state in
                state.hasEnded = true
                return state.waiting.map(\.promise)
            }
            for promise in waiting { promise.fill(with: false) }
        }
    }

    /// Waits for `text`; returns false if the child closes its end before.
    func wait(for text: String) async throws -> Bool {
        let promise = Deferred<Bool>()
        let known: Bool? = state.withLock { state in
            if state.text.contains(text) { return true }
            if state.hasEnded { return false }
            state.waiting.append((text, promise))
            return nil
        }
        if let known { return known }
        return try await promise.get()
    }

    /// Returns the whole output, once the child has closed its end.
    func wholeText() async throws -> String {
        // The child never writes this, so the wait lasts until the end.
        _ = try await wait(for: "\u{0}")
        return text
    }

    private func append(_ new: String) {
        let found = state.withLock { state in
            state.text += new
            let text = state.text
            let found = state.waiting.filter { text.contains($0.text) }
            state.waiting.removeAll { text.contains($0.text) }
            return found.map(\.promise)
        }
        for promise in found { promise.fill(with: true) }
    }
}

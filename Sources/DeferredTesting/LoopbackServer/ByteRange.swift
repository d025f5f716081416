import Foundation

/// The part of a file that a `Range` field requests (RFC 9110, section 14.1.2).
enum ByteRange: Equatable {
    case whole
    case part(Range<Int>)
    case unsatisfiable

    /// Parses a field's value. Other units, several ranges and malformed ranges select the whole file.
    init(_ value: String, size: Int) {
        self = .whole
        let parts = value.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
        guard parts.count == 2, parts[0].lowercased() == "bytes" else { return }
        let ends = parts[1].trimmingCharacters(in: .whitespaces)
            .split(separator: "-", maxSplits: 1, omittingEmptySubsequences: false)
        guard ends.count == 2, ends.allSatisfy({ $0.utf8.allSatisfy { (48...57).contains($0) } }) else { return }
        switch (ends[0].isEmpty, ends[1].isEmpty) {
        case (true, true):
            return
        case (true, false):
            self.init(max(0, size - Self.number(ends[1])), size)
        case (false, true):
            self.init(Self.number(ends[0]), size)
        case (false, false):
            let (first, last) = (Self.number(ends[0]), Self.number(ends[1]))
            guard first <= last else { return }
            self.init(first, min(last, size - 1) + 1)
        }
    }

    private init(_ start: Int, _ end: Int) {
        self = start < end ? .part(start..<end) : .unsatisfiable
    }

    /// Parses digits; a number too large for `Int` becomes `Int.max`.
    private static func number(_ digits: Substring) -> Int {
        Int(digits) ?? .max
    }
}

@testable import fetch

/// What the demonstration's files are, once they are there.
enum DemoLengths {
    static var all: [(name: String, length: Int)] {
        DemoFile.all.map { (String($0.path.dropFirst()), $0.length) }
    }
}

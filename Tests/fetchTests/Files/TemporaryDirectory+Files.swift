import Foundation
import TestSupport

extension TemporaryDirectory {
    func file(_ name: String) -> URL { url.appending(path: name) }

    func contents(of name: String) throws -> Data { try Data(contentsOf: file(name)) }

    var names: [String] {
        get throws { try contents() }
    }
}

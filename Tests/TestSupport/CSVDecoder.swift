package import Foundation

/// Decodes lines of values after a line of names, as a program would that has a format of its own.
package struct CSVDecoder: Sendable {
    package struct NotAList: Error {}

    package var mediaType: String? { "text/csv" }

    package init() {}

    package func decode<T: Decodable>(_ type: T.Type, from data: Data) throws -> T {
        let lines = String(decoding: data, as: UTF8.self).split(separator: "\n").map {
            $0.split(separator: ",", omittingEmptySubsequences: false).map(String.init)
        }
        guard let names = lines.first, type is any RangeReplaceableCollection.Type else { throw NotAList() }
        let rows = lines.dropFirst().map { Dictionary(zip(names, $0)) { one, _ in one } }
        return try JSONDecoder().decode(type, from: JSONEncoder().encode(Array(rows)))
    }
}

public import Foundation

extension ResponseHead {
    /// A link to another resource: RFC 8288.
    public struct Link: Sendable, Hashable {
        /// The URL of the resource, resolved against that of the response.
        public let url: URL

        /// The relations, in lower case, such as `next`.
        public let relations: [String]

        /// The other parameters, by names in lower case, such as `title`.
        public let parameters: [String: String]
    }

    /// The links in the fields `Link`, in order.
    ///
    /// ```swift
    /// let next = head.links.first { $0.relations.contains("next") }?.url
    /// ```
    ///
    /// Links that are malformed, or that are about another resource, because they have an `anchor`, are left out.
    public var links: [Link] { Self.links(in: headers, of: url) }

    /// Returns the links in header fields of a resource with this URL.
    package static func links(in headers: HTTPHeaders, of base: URL?) -> [Link] {
        headers.values(for: "Link").flatMap { links($0, of: base) }
    }

    private static func links(_ field: String, of base: URL?) -> [Link] {
        var rest = field[...]
        var links: [Link] = []
        while let start = rest.firstIndex(of: "<"), let end = rest[start...].firstIndex(of: ">") {
            let target = String(rest[rest.index(after: start)..<end])
            rest = rest[rest.index(after: end)...]
            let parameters = parameters(&rest)
            guard parameters["anchor"] == nil, let relations = parameters["rel"],
                let url = URLReference.resolved(target, against: base)
            else { continue }
            links.append(
                Link(
                    url: url,
                    relations: relations.lowercased().split(separator: " ").map(String.init),
                    parameters: parameters.filter { $0.key != "rel" }
                )
            )
        }
        return links
    }

    /// Reads the parameters of a link, up to the comma before the next one. The first of a name counts.
    private static func parameters(_ rest: inout Substring) -> [String: String] {
        var result: [String: String] = [:]
        while true {
            rest = rest.drop { $0 == " " || $0 == "\t" || $0 == ";" }
            guard let first = rest.first, first != "," else { break }
            let name = rest.prefix { !"=;, \t".contains($0) }.lowercased()
            rest = rest.drop { !"=;,".contains($0) }
            var value: String? = ""
            if rest.first == "=" {
                rest = rest.dropFirst().drop { $0 == " " || $0 == "\t" }
                value = rest.first == "\"" ? FieldList.readQuoted(&rest) : String(rest.prefix { !";,".contains($0) })
                rest = rest.drop { !";,".contains($0) }
            }
            if let value, result[name] == nil { result[name] = String(FieldList.trimmed(value[...])) }
        }
        rest = rest.dropFirst()
        return result
    }
}

import Deferred
import Foundation

#if canImport(FoundationXML)
import FoundationXML
#endif

/// A client of a WebDAV server: RFC 4918. Paths of folders end with a slash.
package struct WebDAV: Sendable {
    package struct Item: Sendable, Hashable {
        package internal(set) var path = ""
        package internal(set) var isFolder = false
        package internal(set) var tag: String?
        package internal(set) var length: Int?
    }

    /// What has to be at a path before it is written: anything, nothing, or the file with this tag.
    package enum Condition: Sendable { case none, isAbsent, hasTag(String) }

    /// The condition of a request isn't true: somebody else was faster.
    package struct Conflict: Error {}

    /// Some items of a folder could not be moved or removed: the body says which.
    package struct Incomplete: Error { package let body: String }

    private let chain: HTTPChain
    private let prefix: String

    package init(_ server: HTTPEnvironment, over network: any HTTPLoader) {
        chain = Validate() --> Retry() --> ApplyEnvironment(server) --> network
        prefix = server.pathPrefix
    }

    package func get(_ path: String) async throws -> (bytes: Data, tag: String?) {
        try await chain.load(HTTPRequest(path: path)).task.map { ($0.body, $0.headers["ETag"]) }.get()
    }

    /// Writes a file, and returns its tag, if the server tells it.
    @discardableResult
    package func put(_ body: HTTPBody, at path: String, if condition: Condition = .none) async throws -> String? {
        var request = HTTPRequest(.put, path: path, body: body)
        if case .isAbsent = condition { request.headers["If-None-Match"] = "*" }
        if case .hasTag(let tag) = condition { request.headers["If-Match"] = tag }
        return try await change(request).headers["ETag"]
    }

    /// Creates a folder, unless it exists.
    package func createFolder(_ path: String) async throws {
        try await change(HTTPRequest("MKCOL", path: path), accepting: 405)
    }

    /// Moves a file or a folder to where nothing is.
    package func move(_ path: String, to destination: String) async throws {
        var request = HTTPRequest("MOVE", path: path, headers: ["Overwrite": "F"])
        request.headers["Destination"] = HTTPRequest(path: prefix + destination).percentEncodedPath
        try await change(request)
    }

    /// Removes a file or a folder, if there is one.
    package func remove(_ path: String) async throws {
        try await change(HTTPRequest(.delete, path: path), accepting: .notFound)
    }

    /// Returns the items in a folder.
    package func list(_ folder: String) async throws -> [Item] {
        let body = Data(
            #"<propfind xmlns="DAV:"><prop><resourcetype/><getetag/><getcontentlength/></prop></propfind>"#.utf8
        )
        var request = HTTPRequest("PROPFIND", path: folder, body: .data(body, contentType: "application/xml"))
        request.headers["Depth"] = "1"
        let response = try await chain.load(request).get()
        let (parser, listing) = (XMLParser(data: response.body), Listing())
        (parser.delegate, parser.shouldProcessNamespaces) = (listing, true)
        guard response.status == 207, parser.parse() else { throw URLError(.cannotParseResponse) }
        return listing.items.filter { $0.path != prefix + folder }
    }

    @discardableResult
    private func change(_ request: HTTPRequest, accepting other: HTTPStatus? = nil) async throws -> HTTPResponse {
        var request = request
        // Of two attempts with a condition, the second would be refused because of what the first has done.
        let isConditional = ["If-Match", "If-None-Match", "Overwrite"].contains { request.headers[$0] != nil }
        if isConditional { request.retryStrategy = .never }
        request.acceptsStatus = { $0.isSuccess || $0 == 412 || $0 == other }
        let response = try await chain.load(request).get()
        if response.status == 412 { throw Conflict() }
        if response.status == 207 { throw Incomplete(body: response.text) }
        return response
    }

    private final class Listing: NSObject, XMLParserDelegate {
        var items: [Item] = []
        private var item = Item()
        private var text = ""

        func parser(
            _: XMLParser,
            didStartElement name: String,
            namespaceURI _: String?,
            qualifiedName _: String?,
            attributes _: [String: String]
        ) {
            text = ""
            if name == "response" { item = Item() }
            if name == "collection" { item.isFolder = true }
        }

        func parser(_: XMLParser, foundCharacters characters: String) { text += characters }

        func parser(_: XMLParser, didEndElement name: String, namespaceURI _: String?, qualifiedName _: String?) {
            switch name {
            case "href": item.path = URLComponents(string: text)?.path ?? text
            case "getetag" where !text.isEmpty: item.tag = text
            case "getcontentlength": item.length = Int(text)
            case "response": items.append(item)
            default: break
            }
        }
    }
}

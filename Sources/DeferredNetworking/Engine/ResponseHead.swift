import Synchronization

#if canImport(FoundationNetworking)
package import Foundation
package import FoundationNetworking
#else
package import Foundation
#endif

/// The head of a response, with the fields as the engine received them.
///
/// Foundation's object is made only for those who ask for it: it merges and renames the fields, and making one takes
/// more time than all the rest of a small response.
package final class ResponseHead: Sendable {
    package struct Field: Sendable, Equatable {
        package let name: String
        package var value: String

        package init(name: String, value: String) {
            (self.name, self.value) = (name, value)
        }
    }

    private enum Source: Sendable {
        /// The lines of the head, in order.
        case lines([Field], version: String)

        /// The platform's object, which has merged the lines.
        case platform(URLResponse)
    }

    package let url: URL?

    /// The status; zero for the response of a caller's `URLProtocol` that isn't HTTP.
    package let status: Int

    /// The time since the server made or confirmed the response, if a client's cache has it; `nil` otherwise.
    let age: Duration?

    /// True if the server has just confirmed the response from the cache.
    let isConfirmed: Bool

    private let source: Source
    private let made = AtomicLazyReference<HTTPURLResponse>()

    package init(
        url: URL,
        version: String,
        status: Int,
        fields: [Field],
        age: Duration? = nil,
        isConfirmed: Bool = false
    ) {
        self.url = url
        self.status = status
        (self.age, self.isConfirmed) = (age, isConfirmed)
        source = .lines(fields, version: version)
    }

    init(_ response: URLResponse) {
        url = response.url
        status = (response as? HTTPURLResponse)?.statusCode ?? 0
        (age, isConfirmed) = (nil, false)
        source = .platform(response)
    }

    package var isHTTP: Bool { status > 0 }

    /// The HTTP version, such as "HTTP/1.1"; `nil` if the platform doesn't say.
    var version: String? {
        if case .lines(_, let version) = source { version } else { nil }
    }

    /// The fields in the order and the number in which they came; where the platform has merged them, sorted by name.
    package var fields: [Field] {
        switch source {
        case .lines(let fields, _):
            return fields
        case .platform(let response):
            let fields = (response as? HTTPURLResponse)?.allHeaderFields ?? [:]
            return fields.compactMap { name, value in
                guard let name = name as? String, let value = value as? String else { return nil }
                return Field(name: name, value: value)
            }.sorted { $0.name < $1.name }
        }
    }

    /// Returns the head of a redirect whose body is not read.
    func withoutLength() -> ResponseHead {
        guard let url else { return self }
        let fields = fields.filter { !HTTPToken.areEqualWithoutCase($0.name, "Content-Length") }
        return ResponseHead(url: url, version: version ?? "HTTP/1.1", status: status, fields: fields)
    }

    /// True if the platform has joined fields of one name by commas.
    var areFieldsJoined: Bool {
        if case .platform = source { true } else { false }
    }

    /// Returns the value of a field, whatever its case; several are joined by commas: RFC 9110, section 5.3.
    func value(of name: String) -> String? {
        switch source {
        case .lines(let fields, _):
            var result: String?
            let count = name.utf8.count
            for index in fields.indices {
                // Most names are told apart by their lengths, without a call.
                guard fields[index].name.utf8.count == count, HTTPToken.areEqualWithoutCase(fields[index].name, name)
                else { continue }
                let value = fields[index].value
                if result == nil { result = value } else { result?.append(", " + value) }
            }
            return result
        case .platform(let response):
            return (response as? HTTPURLResponse)?.value(forHTTPHeaderField: name)
        }
    }

    /// Returns Foundation's object, the same one each time.
    ///
    /// - Throws: `URLError.badServerResponse` for a response that isn't HTTP.
    package func httpResponse() throws(URLError) -> HTTPURLResponse {
        let response: HTTPURLResponse? =
            switch source {
            case .platform(let response): response as? HTTPURLResponse
            case .lines(let fields, let version):
                made.load() ?? makeResponse(fields, version).map { made.storeIfNil($0) }
            }
        guard let response else { throw URLError(.badServerResponse, failing: url) }
        return response
    }

    /// Returns Foundation's object, also for a response that isn't HTTP.
    func platformResponse() throws(URLError) -> URLResponse {
        if case .platform(let response) = source { response } else { try httpResponse() }
    }

    private func makeResponse(_ fields: [Field], _ version: String) -> HTTPURLResponse? {
        guard let url else { return nil }
        return ResponseObjects.make(url: url, status: status, version: version, fields: Self.merged(fields))
    }

    /// The most fields whose names are compared with one another. A lower-case copy of each costs more for so few.
    private static let mostCompared = 32

    /// Returns the values by name, as Foundation spells it. Those of one name are joined by commas.
    private static func merged(_ fields: [Field]) -> [String: String] {
        var result = [String: String](minimumCapacity: fields.count)
        var spellings: [String: String] = [:]
        for index in fields.indices {
            let field = fields[index]
            let first: String?
            if fields.count <= mostCompared {
                let count = field.name.utf8.count
                first =
                    fields[..<index].first {
                        // Most names are told apart by their lengths, without a call.
                        $0.name.utf8.count == count && HTTPToken.areEqualWithoutCase($0.name, field.name)
                    }?.name
            } else {
                let key = field.name.lowercased()
                first = spellings[key]
                if first == nil { spellings[key] = field.name }
            }
            if let first {
                result[ResponseObjects.spelling(of: first)]?.append(", " + field.value)
            } else if !field.name.isEmpty {
                result.updateValue(field.value, forKey: ResponseObjects.spelling(of: field.name))
            }
        }
        return result
    }
}
